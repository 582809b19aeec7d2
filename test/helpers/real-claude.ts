import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLAUDE_BIN_DIR } from './install-claude.ts';
import type { MessagesApi } from './messages-api.ts';
import { PATIENCE_MS } from './patience.ts';

/** One line of `claude --output-format stream-json`, as loosely as a reader may take it. */
export type StreamEvent = { readonly type?: unknown; readonly subtype?: unknown } & Readonly<
  Record<string, unknown>
>;

/** What one run of `claude` showed. */
export interface ClaudeRun {
  readonly stdout: string;
  readonly stderr: string;
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly durationMs: number;
  /** The lines of standard output that are JSON objects. */
  readonly events: readonly StreamEvent[];
  /** The last line, if it is a result; null otherwise. */
  readonly result: StreamEvent | null;
}

/** The flags ralph itself would start `claude` with. */
export const STREAM_JSON = ['--print', '--verbose', '--output-format', 'stream-json'] as const;

/** Added to the sealed environment: logged in with a plan, by a token that no service knows, in place of the key. */
export const PLAN_LOGIN = {
  ANTHROPIC_API_KEY: undefined,
  CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-loopback',
} as const;

/**
 * What ties a real `claude` to the stand-in: a key that no service knows, and the stand-in as the only
 * address. Whatever is meant for another host goes to the stand-in too, as a proxy, which refuses it and
 * records it as `stray`. Only ever on top of an environment that is empty but for PATH and HOME.
 */
export function loopbackEnv(api: Pick<MessagesApi, 'url'>): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'sk-ant-loopback',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    HTTP_PROXY: api.url,
    HTTPS_PROXY: api.url,
    NO_PROXY: '127.0.0.1',
  };
}

/** Runs the real `claude` once, sealed, and ends it with SIGKILL after `timeoutMs`. */
export async function runClaude(
  api: Pick<MessagesApi, 'url'>,
  args: readonly string[],
  {
    input = '',
    env = {},
    home,
    cwd,
    during,
    timeoutMs = PATIENCE_MS,
  }: {
    readonly input?: string;
    /** Added to the sealed environment; `undefined` takes a variable out. */
    readonly env?: Readonly<Record<string, string | undefined>>;
    /** An empty folder of its own if not given. */
    readonly home?: string;
    /** An empty folder of its own if not given. */
    readonly cwd?: string;
    /** What happens while it runs: signals, for one. */
    readonly during?: (child: ChildProcessWithoutNullStreams) => Promise<void>;
    readonly timeoutMs?: number;
  } = {},
): Promise<ClaudeRun> {
  const own = await mkdtemp(join(tmpdir(), 'ralph-claude-'));
  const started = performance.now();
  try {
    const child = spawn(join(CLAUDE_BIN_DIR, 'claude'), args, {
      cwd: cwd ?? (await mkdtemp(join(own, 'work-'))),
      // The whole of it: nothing of this machine's environment goes along.
      env: {
        PATH: `${CLAUDE_BIN_DIR}:/usr/bin:/bin`,
        HOME: home ?? (await mkdtemp(join(own, 'home-'))),
        ...loopbackEnv(api),
        ...env,
      },
      stdio: 'pipe',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (words: string) => {
      said.stdout += words;
    });
    child.stderr.setEncoding('utf8').on('data', (words: string) => {
      said.stderr += words;
    });
    // It may end without having read everything (EPIPE); how it ended is what counts.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, name) => resolve([code, name]));
    }).finally(() => clearTimeout(timer));
    const [[exitCode, signal]] = await Promise.all([closed, during?.(child)]);
    const events = streamEvents(said.stdout);
    const last = events.at(-1);
    return {
      ...said,
      exitCode,
      signal,
      durationMs: performance.now() - started,
      events,
      result: last?.type === 'result' ? last : null,
    };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

function streamEvents(stdout: string): readonly StreamEvent[] {
  return stdout.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as StreamEvent];
    } catch {
      return [];
    }
  });
}

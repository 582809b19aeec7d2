import { spawn } from 'node:child_process';
import type { RefusedHost } from '../../core/agent/attempt.ts';
import { killGroup } from '../processes/kill-group.ts';
import { MARKER_NAME } from '../processes/process-table.ts';
import type { HelperReport, HelperRequest } from './helper-messages.ts';
import type { Mounts } from './mounts.ts';
import type { ToolFiles } from './outer-programs.ts';
import type { RunFolder } from './run-folder.ts';

/** The process that holds the proxies of a sandbox. */
export interface Helper {
  readonly pid: number;
  /** Returns the command line that runs `line` inside the sandbox. Rejects if the helper has ended. */
  wrap(line: string, mounts: Mounts): Promise<string>;
  /** Returns the hosts refused since the last call; if the helper has ended, only those that it has reported. */
  takeRefused(): Promise<readonly RefusedHost[]>;
  isAlive(): boolean;
  close(): Promise<void>;
}

interface HelperOptions {
  readonly program: string;
  /** The file from which to import the component, the package that makes the sandbox. */
  readonly component: string;
  readonly tools: ToolFiles;
  readonly hosts: readonly string[];
  readonly unixSockets: boolean;
  readonly run: RunFolder;
  readonly runId: string;
  /** PATH without the folders that the agent may write to. */
  readonly outerPath: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The time limit for an answer of the helper: much longer than any answer takes, even on a machine that swaps. */
const ANSWER_MS = 30_000;

/** Variables that the helper inherits, such as those that name the machine's own proxy: the helper's proxies use it. */
const PASSED_ON = /^(?:(?:http|https|all|no)_proxy|HOME|LD_LIBRARY_PATH|JAVA_TOOL_OPTIONS)$/i;

/** Starts a helper. Rejects if the helper cannot open the component, with its reason, or if it does not answer. */
export async function startHelper(options: HelperOptions): Promise<Helper> {
  const { run, tools, component, hosts, unixSockets } = options;
  // The helper has its own session, so no signal from the terminal reaches it.
  const child = spawn(process.execPath, [options.program], {
    cwd: run.empty,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: helperEnvironment(options),
  });
  let isAlive = true;
  const waiting = new Map<number, { settle(report: HelperReport): void; fail(why: Error): void }>();
  const refused = new Map<string, RefusedHost>();
  let lastId = 0;
  const ended = new Promise<void>((resolve) => {
    const end = (error: Error): void => {
      isAlive = false;
      // A killed helper would leave its bridge running, the process that connects the sandbox to the proxies.
      killGroup(child.pid);
      for (const each of waiting.values()) each.fail(error);
      waiting.clear();
      resolve();
    };
    child.once('error', end);
    child.once('exit', (code, signal) =>
      end(new Error(`the helper of the sandbox ended (${signal ?? `exit code ${code}`})`)),
    );
  });
  /** Checks first that the helper is alive: after its end, another process may have its pid. */
  const stop = (): void => {
    if (isAlive) killGroup(child.pid);
  };
  const OPENING = 0;
  child.on('message', (report: HelperReport) => {
    if (report.kind === 'refused') {
      const key = `${report.host}:${report.port}`;
      const count = (refused.get(key)?.count ?? 0) + 1;
      refused.set(key, { host: report.host, port: report.port, count });
      return;
    }
    const id = 'id' in report ? report.id : OPENING;
    waiting.get(id)?.settle(report);
    waiting.delete(id);
  });
  const ask = (id: number, request: HelperRequest): Promise<HelperReport> =>
    new Promise((resolve, reject) => {
      if (!isAlive) return reject(new Error('the helper of the sandbox has ended'));
      const giveUp = setTimeout(() => {
        reject(new Error(`the helper of the sandbox did not answer within ${ANSWER_MS / 1_000} s`));
        stop();
      }, ANSWER_MS);
      const once =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(giveUp);
          then(value);
        };
      waiting.set(id, { settle: once(resolve), fail: once(reject) });
      // The callback can be empty: if sending fails, the channel closes, and that ends the wait.
      child.send(request, () => {});
    });

  const opened = await ask(OPENING, { kind: 'open', component, hosts, unixSockets, ...tools });
  const { pid } = child;
  if (opened.kind === 'failed' || pid === undefined) {
    stop();
    await ended;
    throw new Error(opened.kind === 'failed' ? opened.why : 'the helper did not start');
  }
  // Ralph may exit while the helper runs: the channel then closes, which ends the helper.
  child.unref();
  child.channel?.unref();
  return {
    pid,
    isAlive: () => isAlive,
    async wrap(line, mounts) {
      const id = ++lastId;
      const answer = await held(() => ask(id, { kind: 'wrap', id, line, mounts }));
      if (answer.kind === 'wrapped') return answer.line;
      throw new Error(answer.kind === 'not-wrapped' ? answer.why : `it said ${answer.kind}`);
    },
    async takeRefused() {
      const id = ++lastId;
      await held(() => ask(id, { kind: 'catch-up', id })).catch(() => null);
      const all = [...refused.values()];
      refused.clear();
      return all;
    },
    async close() {
      child.ref();
      stop();
      await ended;
    },
  };

  /** Keeps ralph from exiting while it waits for an answer. */
  async function held<T>(action: () => Promise<T>): Promise<T> {
    child.channel?.ref();
    try {
      return await action();
    } finally {
      if (waiting.size === 0) child.channel?.unref();
    }
  }
}

function helperEnvironment({ env, run, runId, outerPath }: HelperOptions): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => PASSED_ON.test(name));
  return {
    ...Object.fromEntries(passed),
    // The component runs `which` to find its shell.
    PATH: `${outerPath}:/usr/bin:/bin`,
    TMPDIR: run.sockets,
    // The component sets TMPDIR to this folder inside the sandbox.
    CLAUDE_CODE_TMPDIR: run.tmp,
    // The helper's bridge inherits this variable, by which the run's guard process finds it if the helper is killed.
    [MARKER_NAME]: runId,
  };
}

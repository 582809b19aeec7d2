import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE_MS } from './patience.ts';
import { fixture } from './processes.ts';

/** A command line, and where it is carried out. */
export interface SharedLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How it ended. */
export interface SharedEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Each line leaves something in memory, and the more there is, the longer each start of another program takes. */
const LINES_EACH = 60;

/** What Node itself reads of an environment when it starts. */
const OF_NODE = /^(?:NODE|LD_|LC_|LANG|TZ$|SSL_|OPENSSL_|UV_)/;

let idle: SharedProcess | undefined;

/** Whether a line has to have a process of its own: it is about the start of Node. */
export function needsOwnProcess({ cwd, env }: SharedLine): boolean {
  return Object.keys(env).some((name) => OF_NODE.test(name)) || !existsSync(cwd);
}

/**
 * Carries out a line in the process that this worker keeps for that: the start of Node and of ralph is most of what a
 * line costs. Rejects, with what came so far, if it is not over after `timeoutMs`.
 */
export async function carryOut(line: SharedLine, timeoutMs = PATIENCE_MS): Promise<SharedEnd> {
  // Beside a line that is not over yet, another has another process, as lines of people have.
  const found = idle?.isFresh === true ? idle : new SharedProcess();
  idle = undefined;
  try {
    return await found.carryOut(line, timeoutMs);
  } finally {
    if (idle === undefined && found.isFresh) idle = found;
    else found.end();
  }
}

/** A process that carries out lines, and the files that it prints to. */
class SharedProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ralph-shared-'));
  readonly #files = [join(this.#folder, 'stdout'), join(this.#folder, 'stderr')] as const;
  readonly #child: ChildProcess;
  readonly #remove = (): void => rmSync(this.#folder, { recursive: true, force: true });
  #lines = 0;

  constructor() {
    const [stdout, stderr] = this.#files.map((file) => openSync(file, 'a'));
    const child = fork(fixture('line-after-line.cjs'), [], {
      env: {},
      execArgv: [],
      stdio: ['ignore', stdout, stderr, 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    this.#child = child;
    process.once('exit', this.#remove);
  }

  get isFresh(): boolean {
    const { connected, killed, exitCode, signalCode } = this.#child;
    const isAlive = connected && !killed && exitCode === null && signalCode === null;
    return isAlive && this.#lines < LINES_EACH;
  }

  async carryOut(line: SharedLine, timeoutMs: number): Promise<SharedEnd> {
    this.#lines += 1;
    for (const file of this.#files) truncateSync(file);
    const child = this.#child;
    const end = await new Promise<Pick<SharedEnd, 'exitCode' | 'signal'>>((resolve, reject) => {
      const onMessage = (message: unknown): void => {
        done();
        resolve({ exitCode: (message as { exitCode: number }).exitCode, signal: null });
      };
      // It ended as a process of its own would have.
      const onExit = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        done();
        resolve({ exitCode, signal });
      };
      const timer = setTimeout(() => {
        done();
        child.kill('SIGKILL');
        const words = `\`ralph ${line.args.join(' ')}\` was not over after ${timeoutMs} ms.`;
        reject(new Error(`${words}\nstdout: ${this.#said(0)}\nstderr: ${this.#said(1)}`));
      }, timeoutMs);
      const done = (): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
      };
      child.once('message', onMessage);
      child.once('exit', onExit);
      child.send(line, (error) => {
        if (error === null) return;
        done();
        reject(error);
      });
    });
    return { stdout: this.#said(0), stderr: this.#said(1), ...end };
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
    process.off('exit', this.#remove);
    this.#remove();
  }

  #said(index: 0 | 1): string {
    return readFileSync(this.#files[index], 'utf8');
  }
}

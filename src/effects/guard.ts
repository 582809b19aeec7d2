import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { type ProcessIdentity, readProcess } from './process-table.ts';

/*
 * `claude` works on to its end when ralph is killed with SIGKILL, which no handler sees. So one small
 * process a run holds the reading end of a pipe whose writing end nobody but ralph has: when ralph
 * dies, however it dies, the pipe closes.
 *
 *   ralph ──── note PID:START … ────► sh   (a megabyte, in a session of its own, deaf to HUP INT TERM)
 *     │  ───── bye ─────────────────► exit
 *     ╳  (pipe closes without bye) ─► exec node guard-program.js RUN DRIVER PID:START …
 *
 * A ralph that is only stopped (SIGSTOP) keeps its end open, and nothing happens.
 */
const WAIT_FOR_THE_END = `
trap '' HUP INT TERM
noted=
while IFS= read -r line; do
  case $line in
    'note '*) noted=\${line#note } ;;
    bye) exit 0 ;;
  esac
done
exec "$@" $noted
`;

/** So many processes are noted at most. The marker finds what is beyond. */
const NOTED_AT_MOST = 200;

/** What stays behind to end the agent if this process is killed. */
export interface Guard {
  /** Null if there is none: then the agent would outlive a ralph that is killed with SIGKILL. */
  readonly pid: number | null;
  /** Tells it the whole set of processes that belong to the run now, in place of the set before. */
  note(processes: readonly ProcessIdentity[]): void;
  /** Sends it away. To be called last, when nothing is left that it should end. */
  farewell(): void;
}

/** What a guard is told at its start. */
export interface GuardOptions {
  /** The value of `RALPH_RUN_ID` in the environment of what the run starts. */
  readonly runId: string;
  /** Path of the bundled `guard-program.js`. */
  readonly programPath: string;
  /** Told, once, why there is no guard or no longer one. */
  readonly onProblem?: (problem: string) => void;
  readonly shell?: string;
}

/** Starts the guard of a run. Never throws: without one the run goes on, and `onProblem` says so. */
export function startGuard(options: GuardOptions): Guard {
  let onProblem = options.onProblem;
  const tellProblem = (problem: string) => {
    onProblem?.(problem);
    onProblem = undefined;
  };

  const child = spawnShell(options, tellProblem);
  const stdin = child?.stdin ?? null;
  if (child?.pid === undefined || stdin === null) {
    return { pid: null, note() {}, farewell() {} };
  }
  child.on('exit', (code, signal) => tellProblem(`it ended (${signal ?? `exit code ${code}`})`));
  // That the pipe is broken is told by `exit`.
  stdin.on('error', () => {});
  // Neither keeps ralph from exiting.
  child.unref();
  if (stdin instanceof Socket) stdin.unref();

  let told = '';
  return {
    pid: child.pid,
    note(processes) {
      // Those it was told of before are dead: it knows the dead by their start.
      if (processes.length === 0) return;
      const line = `note ${processes.slice(0, NOTED_AT_MOST).map(nameOf).join(' ')}\n`;
      // A guard that does not read (stopped, say) must not make ralph hoard: a later set will do.
      if (line === told || stdin.writableNeedDrain || !stdin.writable) return;
      told = line;
      stdin.write(line);
    },
    farewell() {
      onProblem = undefined;
      // Written through at once: ralph may exit right after this.
      if (stdin.writable) stdin.end('bye\n');
    },
  };
}

function spawnShell(
  { runId, programPath, shell = '/bin/sh' }: GuardOptions,
  tellProblem: (problem: string) => void,
): ChildProcess | null {
  try {
    const driver = readProcess(process.pid);
    const program = [process.execPath, programPath, runId, driver === null ? '' : nameOf(driver)];
    const child = spawn(shell, ['-c', WAIT_FOR_THE_END, 'ralph-guard', ...program], {
      // A session of its own: the terminal's hang-up does not reach it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      // What node needs to start. No RALPH_RUN_ID above all, or it would end itself.
      env: { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
    });
    // What spawn cannot do it tells later, and then there is no pid.
    return child.on('error', ({ message }) => tellProblem(message));
  } catch (error) {
    tellProblem(messageOf(error));
    return null;
  }
}

function nameOf({ pid, startedAt }: ProcessIdentity): string {
  return `${pid}:${startedAt}`;
}

import { type ProcessIdentity, readProcess, unlessUnreadable } from './process-table.ts';
import { spawnHelper } from './spawn-process.ts';

/*
 * `claude` keeps working if ralph is killed with SIGKILL, which no handler sees. So each run has
 * one small process that reads a pipe whose writing end only ralph holds: when ralph dies, however
 * it dies, the pipe closes.
 *
 *   ralph ──── note PID:START … ────► sh   (a megabyte, in its own session, ignores HUP INT TERM)
 *     │  ───── bye ─────────────────► exit
 *     ╳  (pipe closes without bye) ─► exec node guard-program.js RUN DRIVER PID:START …
 *
 * A ralph that is only suspended (SIGSTOP) keeps its end open, and nothing happens.
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

/** At most this many processes are noted; the marker finds the others. */
const NOTED_AT_MOST = 200;

/** The process that ends the agent if ralph is killed. */
export interface Guard {
  /** Null if there is no guard: then the agent would outlive a SIGKILL of ralph. */
  readonly pid: number | null;
  /** Sends it all processes that now belong to the run; they replace the previous set. */
  note(processes: readonly ProcessIdentity[]): void;
  /** Dismisses it. Call this last, when no process of the run needs it any more. */
  farewell(): void;
}

export interface GuardOptions {
  /** The value of `RALPH_RUN_ID` in the environment of what the run starts. */
  readonly runId: string;
  /** Path of the bundled `guard-program.js`. */
  readonly programPath: string;
  /** Called once, with the reason why there is no guard (any more). */
  readonly onProblem?: (problem: string) => void;
  readonly shell?: string;
}

/** Starts the guard of a run. Never throws: the run goes on without it, after `onProblem`. */
export function startGuard({
  runId,
  programPath,
  shell = '/bin/sh',
  ...options
}: GuardOptions): Guard {
  let onProblem = options.onProblem;
  const reportProblem = (problem: string) => {
    onProblem?.(problem);
    onProblem = undefined;
  };

  const driver = unlessUnreadable(() => readProcess(process.pid));
  const program = [process.execPath, programPath, runId, driver === null ? '' : nameOf(driver)];
  // What node needs to start, but never RALPH_RUN_ID: the guard would end itself.
  const env = { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH };
  const args = ['-c', WAIT_FOR_THE_END, 'ralph-guard', ...program];
  const child = spawnHelper(shell, args, env, reportProblem);
  if (child?.pid === undefined) return { pid: null, note() {}, farewell() {} };
  const { stdin } = child;
  child.on('exit', (code, signal) => reportProblem(`it ended (${signal ?? `exit code ${code}`})`));

  let lastNote = '';
  return {
    pid: child.pid,
    note(processes) {
      // Then those noted before are dead; the guard recognises them by their start time.
      if (processes.length === 0) return;
      const line = `note ${processes.slice(0, NOTED_AT_MOST).map(nameOf).join(' ')}\n`;
      // Do not buffer for a guard that does not read (a stopped one, say): a later set will do.
      if (line === lastNote || stdin.writableNeedDrain || !stdin.writable) return;
      lastNote = line;
      stdin.write(line);
    },
    farewell() {
      onProblem = undefined;
      // Written synchronously: ralph may exit right after this.
      if (stdin.writable) stdin.end('bye\n');
    },
  };
}

function nameOf({ pid, startedAt }: ProcessIdentity): string {
  return `${pid}:${startedAt}`;
}

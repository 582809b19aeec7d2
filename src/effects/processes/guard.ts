import { ifPossible } from '../files/if-possible.ts';
import type { Lease } from './lease.ts';
import { type ProcessIdentity, readProcess } from './process-table.ts';
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
 *
 * A worker of a fleet (machines that share tasks) has a lease, a time limit for renewing its claim to a task: while the
 * worker is suspended, another one may claim the task. A shell cannot measure the time between two lines, so in a fleet
 * `guard-program.js` is the guard from the start, and also gets `beat AGE_MS` at each renewal. See `lease-watch.ts`.
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

/** At most this many processes are sent to the guard; it finds the others by the run's marker. */
const NOTED_AT_MOST = 200;

export interface Guard {
  /** Null if there is no guard: then the agent would outlive a SIGKILL of ralph. */
  readonly pid: number | null;
  /** Sends the guard all current processes of the run, which replace those of the last call. */
  note(processes: readonly ProcessIdentity[]): void;
  /** Ends the guard. Call this last, when no process of the run needs it any more. */
  farewell(): void;
}

export interface GuardOptions {
  /** The value of `RALPH_RUN_ID` in the environment of what the run starts. */
  readonly runId: string;
  readonly programPath: string;
  /** Called at most once, with the reason why the guard could not start or has ended. */
  readonly onProblem?: (problem: string) => void;
  readonly shell?: string;
  /** Set in a fleet: if ralph sends no beat for most of this time, the guard kills the processes of the run. */
  readonly lease?: Lease | undefined;
}

/** Starts the guard of a run. Never throws: if that fails, calls `onProblem`. */
export function startGuard({
  runId,
  programPath,
  shell = '/bin/sh',
  lease,
  ...options
}: GuardOptions): Guard {
  let onProblem = options.onProblem;
  const reportProblem = (problem: string) => {
    onProblem?.(problem);
    onProblem = undefined;
  };

  const driver = ifPossible(() => readProcess(process.pid));
  const program = [programPath, runId, driver === null ? '' : nameOf(driver)];
  // Only variables that node needs to start: with RALPH_RUN_ID, the guard would end itself.
  const env = { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH };
  const [file, args] =
    lease === undefined
      ? [shell, ['-c', WAIT_FOR_THE_END, 'ralph-guard', process.execPath, ...program]]
      : [process.execPath, [...program, `lease=${Math.round(lease.ms)}`]];
  const child = spawnHelper(file, args, env, reportProblem);
  if (child?.pid === undefined) return { pid: null, note() {}, farewell() {} };
  const { stdin } = child;
  child.on('exit', (code, signal) => reportProblem(`it ended (${signal ?? `exit code ${code}`})`));

  /** Writes a line, unless the guard reads nothing at present (it may be suspended): a later line replaces this one. */
  const send = (line: string): boolean => {
    if (stdin.writableNeedDrain || !stdin.writable) return false;
    stdin.write(`${line}\n`);
    return true;
  };
  const beat = (ageMs: number): void => void send(`beat ${Math.ceil(ageMs)}`);
  if (lease !== undefined) beat(lease.ageMs());
  const endBeats = lease?.onBeat(beat);
  child.on('exit', () => endBeats?.());

  let lastNote = '';
  return {
    pid: child.pid,
    note(processes) {
      // An empty list is not sent: the guard compares start times, so it can see that noted processes have ended.
      if (processes.length === 0) return;
      const line = `note ${processes.slice(0, NOTED_AT_MOST).map(nameOf).join(' ')}`;
      if (line !== lastNote && send(line)) lastNote = line;
    },
    farewell() {
      onProblem = undefined;
      endBeats?.();
      // Written synchronously: ralph may exit right after this.
      if (stdin.writable) stdin.end('bye\n');
    },
  };
}

function nameOf({ pid, startedAt }: ProcessIdentity): string {
  return `${pid}:${startedAt}`;
}

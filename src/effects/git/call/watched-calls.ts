import { AsyncLocalStorage } from 'node:async_hooks';
import { ifPossible } from '../../files/if-possible.ts';
import { listProcesses, showsOwnPids } from '../../processes/process-table.ts';

/*
 * Ends calls of git that hang: a named pipe called `.gitignore`, or a network disk that is gone, would hold git for
 * ever. A call is quiet while it uses no processor time. A call that works may take as long as its own limit says.
 *
 *   quiet for 60 s ──► ended ──► later calls: 5 s, until one like it answers
 *
 *   stop ─────────────► quiet for 1 s, or 7 s in all ──► ended ──► later calls: 1 s in all
 *   second stop ────────────────────────────────────► ended ──► later calls: 1 s in all
 *   end of --timeout ─► quiet for 1 s ──────────────► ended
 *
 * `keepCallsIn` ties these limits to the work of a run, so they hold for every call of git that this work awaits.
 */

/** What may keep git waiting: another machine, or a program of the user's. */
export type WaitsFor =
  /** Only the call's own limit and signal end it. */
  | 'network'
  /** Only the call's own limit and signal, and a stop of the run, end it. */
  | 'hooks';

interface GitCall {
  readonly pid: number | undefined;
  readonly args: readonly string[];
  readonly waitsFor: WaitsFor | null;
  readonly giveUp: () => void;
}

export interface QuietTimes {
  /** How long a call may be quiet, in ms. */
  readonly quietMs?: number;
  /** How long a call may be quiet after another one was quiet for too long, in ms. */
  readonly waryQuietMs?: number;
  /** How long a call may be quiet once the run is ending, in ms; a call that begins later has only this time in all. */
  readonly lastQuietMs?: number;
}

/** Returns git's subcommand, such as `status`, from its arguments. */
export function subcommandOf(args: readonly string[]): string {
  let at = 0;
  while (args[at] === '-c' || args[at] === '-C') at += 2;
  return args[at] ?? '';
}

/** Watches a call by the limits of its run. Returns a function that ends the watch, given whether git has answered. */
export function beginCall(call: GitCall): (hasAnswered: boolean) => void {
  return (here.getStore() ?? ofNoRun).begin(call);
}

const QUIET_MS = 60_000;
const WARY_QUIET_MS = 5_000;
const LAST_QUIET_MS = 1_000;
/** The longest time between two looks at a call, in ms. */
const STEP_MS = 5_000;
/** How many looks at a call fall into the time that it may be quiet. */
const LOOKS = 4;

/** Watches the calls of one run. */
export function watchCalls(request: QuietTimes) {
  const { quietMs = QUIET_MS, waryQuietMs = WARY_QUIET_MS } = request;
  const { lastQuietMs = LAST_QUIET_MS } = request;
  const underWay = new Set<{ look(): void; giveUp(): void }>();
  /** The arguments of calls that were quiet for too long. Only an answer to one of these shows that git works again. */
  const unanswered = new Set<string>();
  let isStopping = false;
  let isOver = false;
  let isLate = false;

  const quietLimitMs = (): number => {
    if (isStopping || isLate) return lastQuietMs;
    return unanswered.size > 0 ? waryQuietMs : quietMs;
  };
  const lookAtAll = (): void => {
    for (const call of underWay) call.look();
  };

  return {
    stop(): void {
      isStopping = true;
      lookAtAll();
    },
    over(): void {
      isStopping = true;
      isOver = true;
      for (const call of underWay) call.giveUp();
    },
    setLate(late: boolean): void {
      isLate = late;
      if (late) lookAtAll();
    },
    begin({ pid, args, waitsFor, giveUp }: GitCall): (hasAnswered: boolean) => void {
      if (waitsFor === 'network') return () => {};
      const isWatched = waitsFor === null && pid !== undefined && canTellWork();
      const words = args.join(' ');
      let timer: NodeJS.Timeout | undefined;
      let ticks = 0;
      let quietForMs = 0;
      const lookAgain = (): void => {
        const stepMs = Math.min(quietLimitMs() / LOOKS, STEP_MS);
        // Quiet time is added up look by look, not read from a clock: while ralph is suspended, git may be
        // suspended, too.
        timer = setTimeout(() => look(stepMs), stepMs);
      };
      const look = (passedMs: number): void => {
        clearTimeout(timer);
        const work = ifPossible(() => workOf(pid ?? 0));
        const isQuiet = work !== null && !work.isRunning && work.ticks === ticks;
        quietForMs = isQuiet ? quietForMs + passedMs : 0;
        ticks = work?.ticks ?? ticks;
        if (quietForMs < quietLimitMs()) {
          lookAgain();
        } else {
          unanswered.add(words);
          giveUp();
        }
      };
      const call = { look: () => isWatched && look(0), giveUp };
      underWay.add(call);
      if (isOver) timer = setTimeout(giveUp, lastQuietMs);
      else if (isWatched) lookAgain();
      return (hasAnswered) => {
        clearTimeout(timer);
        underWay.delete(call);
        if (hasAnswered && unanswered.has(words)) unanswered.clear();
      };
    },
  };
}

/** Runs `work`, and watches its calls of git by the limits of its run. */
export function keepCallsIn<T>(calls: WatchedCalls, work: () => Promise<T>): Promise<T> {
  return here.run(calls, work);
}

type WatchedCalls = ReturnType<typeof watchCalls>;
const here = new AsyncLocalStorage<WatchedCalls>();
const ofNoRun = watchCalls({});

/** Whether the system shows how much processor time processes have used. */
function canTellWork(): boolean {
  return process.platform === 'linux' && showsOwnPids();
}

function workOf(pgid: number) {
  const members = listProcesses().filter((entry) => entry.pgid === pgid);
  return {
    ticks: members.reduce((sum, { ticks }) => sum + (ticks ?? 0), 0),
    // In this state a process runs or waits for a processor: it works either way.
    isRunning: members.some(({ state }) => state === 'R'),
  };
}

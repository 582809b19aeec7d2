import { AsyncLocalStorage } from 'node:async_hooks';
import { ifPossible } from '../../files/if-possible.ts';
import { listProcesses, showsOwnPids } from '../../processes/process-table.ts';

/*
 * Ends calls of git that do not answer: a pipe called `.gitignore`, or a disk of a network that is gone, holds git for
 * ever. A git that works uses processor time, and may take as long as its own limit says.
 *
 *   quiet for 60 s ──► ended ──► the next ones: 5 s, until such a call answers
 *
 *   stop ─────────────► quiet for 1 s, 7 s in all ──► later calls: 1 s in all
 *   second stop ──────────────────────────────────► later calls: 1 s in all
 *   end of --timeout ─► quiet for 1 s
 *
 * The limits of a run reach all that it awaits, without being handed on: nobody can forget one of its calls.
 */

/** What may keep git waiting: another machine, or a program of the user's. */
export type WaitsFor =
  /** Only the own limit and signal of the call end it. */
  | 'network'
  /** Only its own limit and signal, and a stop, end it. */
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
  /** The same after one that was too long. */
  readonly waryQuietMs?: number;
  /** The same once the run is to end; then also the whole limit of a call that comes late. */
  readonly lastQuietMs?: number;
}

/** Returns the command in the arguments of git. */
export function subcommandOf(args: readonly string[]): string {
  let at = 0;
  while (args[at] === '-c' || args[at] === '-C') at += 2;
  return args[at] ?? '';
}

/**
 * Watches a call that has begun, by the limits of the run that makes it. The returned function ends the watch, and
 * says whether git has answered.
 */
export function beginCall(call: GitCall): (hasAnswered: boolean) => void {
  return (here.getStore() ?? ofNoRun).begin(call);
}

const QUIET_MS = 60_000;
const WARY_QUIET_MS = 5_000;
const LAST_QUIET_MS = 1_000;
/** Longest time between two looks at a call. */
const STEP_MS = 5_000;
/** Looks in the time that a call may be quiet. */
const LOOKS = 4;

/** Watches the calls of one run. */
export function watchCalls(request: QuietTimes) {
  const { quietMs = QUIET_MS, waryQuietMs = WARY_QUIET_MS } = request;
  const { lastQuietMs = LAST_QUIET_MS } = request;
  const underWay = new Set<{ look(): void; giveUp(): void }>();
  /** The words of calls that were quiet for too long: that another one answers says nothing about them. */
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
        // Counted by looks: while ralph is suspended, git may be, too.
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

/** Has a run's calls of git watched by its own limits. */
export function keepCallsIn<T>(calls: WatchedCalls, work: () => Promise<T>): Promise<T> {
  return here.run(calls, work);
}

type WatchedCalls = ReturnType<typeof watchCalls>;
const here = new AsyncLocalStorage<WatchedCalls>();
const ofNoRun = watchCalls({});

/** Whether the system tells what processes do. */
function canTellWork(): boolean {
  return process.platform === 'linux' && showsOwnPids();
}

function workOf(pgid: number) {
  const members = listProcesses().filter((entry) => entry.pgid === pgid);
  return {
    ticks: members.reduce((sum, { ticks }) => sum + (ticks ?? 0), 0),
    // One that waits for a processor works, too.
    isRunning: members.some(({ state }) => state === 'R'),
  };
}

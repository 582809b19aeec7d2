import type { SignFound } from '../../core/agent/sign.ts';
import { targetOf } from '../../core/agent/tool-target.ts';
import {
  type AgentDeed,
  createSupervisor,
  type SignLimits,
} from '../../core/supervisor/supervisor.ts';
import type { AgentListener } from '../../loop/ports.ts';
import { oneLine } from '../files/bounded-text.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import { startPatientTimer } from '../time/patient-timer.ts';
import type { ReaderListener } from './agent.ts';

/** A tool that has not answered after this many minutes is named. */
const SILENT_MINUTES = 10;
/** So many calls at once are watched for their silence. */
const MOST_WATCHED = 100;
const MAX_TARGET_CHARS = 200;

/** Starts a timer; returns a function that cancels it. */
type StartTimer = (callback: () => void, ms: number) => () => void;

/** One attempt, as it is watched. */
export interface Watch {
  /** What the reader of the agent's output tells. */
  readonly listener: ReaderListener;
  /** Returns the sign by which the attempt was ended, or null. */
  readonly cutBy: () => SignFound | null;
  /** Stops all timers. */
  readonly stop: () => void;
}

/** Watches an attempt: passes on what is found, ends the agent after a cut, and names tools that do not answer. */
export function watchAttempt(
  listener: AgentListener,
  limits: SignLimits,
  signs: Pick<AgentSigns, 'hopeless'>,
  startTimer: StartTimer = startPatientTimer,
): Watch {
  const supervisor = createSupervisor(limits);
  const silent = createSilenceWatch(listener, startTimer);
  let cutBy: SignFound | null = null;
  return {
    listener: {
      activity: (activity) => listener.activity(activity),
      retry: (retry) => listener.retry(retry),
      text: (text) => listener.text(text),
      did: (deed) => {
        silent.saw(deed);
        const found = supervisor.observe(deed);
        if (found === null) return;
        if (found.action === 'cut') {
          cutBy = found;
          signs.hopeless('supervisor');
        }
        listener.found(found);
      },
    },
    cutBy: () => cutBy,
    stop: silent.stop,
  };
}

function createSilenceWatch(listener: AgentListener, startTimer: StartTimer) {
  const timers = new Map<string, () => void>();
  const over = (id: string): void => {
    timers.get(id)?.();
    timers.delete(id);
  };
  return {
    saw(deed: AgentDeed): void {
      if (deed.kind === 'answered') over(deed.id);
      if (deed.kind !== 'called' || timers.size >= MOST_WATCHED || timers.has(deed.id)) return;
      const { id, tool, input } = deed;
      const target = input === null ? '' : oneLine(targetOf(input) ?? '', MAX_TARGET_CHARS);
      const tell = (): void => {
        over(id);
        listener.silentTool({ tool: oneLine(tool, 60), target, minutes: SILENT_MINUTES });
      };
      timers.set(id, startTimer(tell, SILENT_MINUTES * 60_000));
    },
    stop(): void {
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

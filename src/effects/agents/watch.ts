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
const MAX_TOOL_CHARS = 60;
const MINUTE_MS = 60_000;

type Called = Extract<AgentDeed, { kind: 'called' }>;

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

/** Looks once a minute which calls have no answer yet: a timer for each call would cost more. */
function createSilenceWatch(listener: AgentListener, startTimer: StartTimer) {
  const open = new Map<string, { readonly call: Called; minutes: number }>();
  let cancel: (() => void) | null = null;
  const look = (): void => {
    for (const waiting of open.values()) {
      waiting.minutes += 1;
      if (waiting.minutes !== SILENT_MINUTES) continue;
      const { tool, input } = waiting.call;
      const target = input === null ? '' : oneLine(targetOf(input) ?? '', MAX_TARGET_CHARS);
      listener.silentTool({ tool: oneLine(tool, MAX_TOOL_CHARS), target, minutes: SILENT_MINUTES });
    }
    cancel = open.size === 0 ? null : startTimer(look, MINUTE_MS);
  };
  return {
    saw(deed: AgentDeed): void {
      if (deed.kind === 'answered') open.delete(deed.id);
      if (deed.kind !== 'called' || open.size >= MOST_WATCHED) return;
      open.set(deed.id, { call: deed, minutes: 0 });
      cancel ??= startTimer(look, MINUTE_MS);
    },
    stop(): void {
      cancel?.();
      cancel = null;
    },
  };
}

import type { SignFound } from '../../core/agent/sign.ts';
import { shortTarget } from '../../core/agent/tool-target.ts';
import { preview } from '../../core/secrets/secrets.ts';
import {
  type AgentDeed,
  createSupervisor,
  type SignLimits,
} from '../../core/supervisor/supervisor.ts';
import type { AgentListener } from '../../loop/ports.ts';
import { shortLine } from '../files/bounded-text.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import { startPatientTimer } from '../time/patient-timer.ts';

/** A tool that has not answered after this many minutes is reported. */
const SILENT_MINUTES = 10;
/** At most this many calls are watched for their silence at the same time. */
const MOST_WATCHED = 100;
const MINUTE_MS = 60_000;
const MAX_TOOL_CHARS = 60;
const MAX_TARGET_CHARS = 200;
/** At most this much of a call's target is kept; it is shortened further only after secrets in it are masked. */
const KEPT_CHARS = 1_000;

type StartTimer = (callback: () => void, ms: number) => () => void;

/** Watches an attempt: reports signs of trouble, ends the agent on some, and reports tools that do not answer. */
export function watchAttempt(
  listener: AgentListener,
  limits: SignLimits,
  signs: Pick<AgentSigns, 'hopeless'>,
  startTimer: StartTimer = startPatientTimer,
) {
  const supervisor = createSupervisor(limits);
  const silent = createSilenceWatch(listener, startTimer);
  let cutBy: SignFound | null = null;
  return {
    listener: {
      ...listener,
      did: (deed: AgentDeed): void => {
        silent.saw(deed);
        const found = supervisor.observe(deed);
        if (found === null) return;
        if (found.action === 'cut') {
          if (!signs.hopeless('supervisor')) return;
          cutBy = found;
        }
        listener.found(found);
      },
    },
    /** Returns the sign of trouble for which the attempt was ended; null if there was no such sign. */
    cutBy: (): SignFound | null => cutBy,
    stop: silent.stop,
  };
}

interface OpenCall {
  readonly tool: string;
  readonly target: string;
  minutes: number;
}

/** Watches all calls with one timer: there may be thousands of calls, and nearly all are answered at once. */
function createSilenceWatch(listener: AgentListener, startTimer: StartTimer) {
  const open = new Map<string, OpenCall>();
  let cancel: (() => void) | null = null;
  const start = (): void => {
    cancel = startTimer(minutePassed, MINUTE_MS);
  };
  const minutePassed = (): void => {
    cancel = null;
    for (const [id, call] of open) {
      call.minutes += 1;
      // The call began within its first counted minute, so that minute was not a whole one.
      if (call.minutes <= SILENT_MINUTES) continue;
      open.delete(id);
      const tool = shortLine(call.tool, MAX_TOOL_CHARS);
      listener.silentTool({
        tool,
        target: preview(call.target, MAX_TARGET_CHARS),
        minutes: SILENT_MINUTES,
      });
    }
    if (open.size > 0) start();
  };
  return {
    saw(deed: AgentDeed): void {
      if (deed.kind === 'answered') open.delete(deed.id);
      if (deed.kind !== 'called' || open.size >= MOST_WATCHED || open.has(deed.id)) return;
      const { id, tool, input } = deed;
      const target = (input === null ? null : shortTarget(input, KEPT_CHARS)) ?? '';
      open.set(id, { tool, target, minutes: 0 });
      if (cancel === null) start();
    },
    stop(): void {
      cancel?.();
      open.clear();
    },
  };
}

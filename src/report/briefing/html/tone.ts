import type { BriefTask } from '../../../core/task/briefing.ts';
import type { BriefIteration } from '../../../core/task/briefing-sources.ts';

/** The meaning of a colour: done, working, cut short, failed. */
export type Tone = 'done' | 'work' | 'cut' | 'bad';

export function iterationTone({ completed, outcome }: BriefIteration): Tone {
  if (completed) return 'done';
  if (outcome === 'answered') return 'work';
  return outcome === 'errored' ? 'bad' : 'cut';
}

/** Returns an iteration's outcome in words. */
export function outcomeWords({ completed, near_miss, outcome }: BriefIteration): string {
  if (completed) return 'completed';
  return near_miss ? `${outcome}, near miss` : outcome;
}

export function taskTone({ group, shown }: BriefTask): Tone {
  switch (group) {
    case 'completed':
      return 'done';
    case 'running':
      return 'work';
    case 'waiting':
      return 'cut';
    case 'failed':
      return shown.state === 'usage_limited' ? 'cut' : 'bad';
  }
}

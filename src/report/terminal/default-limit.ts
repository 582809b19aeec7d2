import type { RalphEvent } from '../../core/machine/events.ts';
import type { Sources } from '../../core/settings/setting-source.ts';
import { defaultLimitNotice } from '../notices.ts';

/** Returns a listener to events. When a default limit is reached, it warns once and names the flag. */
export function defaultLimitHint(
  sources: Sources,
  warn: (sentence: string) => void,
): (event: RalphEvent) => void {
  let isSaid = false;
  return (event) => {
    if (isSaid) return;
    const isIteration =
      event.event === 'task_iterated' &&
      event.outcome === 'timed-out' &&
      event.detail.includes('iteration limit');
    const isTask = event.event === 'task_timeout';
    const limit = isIteration ? 'iteration' : isTask ? 'task' : null;
    if (limit === null) return;
    const source = limit === 'iteration' ? sources.iterationTimeout : sources.timeout;
    if (source.kind !== 'default') return;
    isSaid = true;
    warn(defaultLimitNotice(limit));
  };
}

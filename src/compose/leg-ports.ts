import type { SignalWatch } from '../effects/processes/signals.ts';
import type { TaskStore } from '../effects/state/state-store.ts';
import type { StateStore } from '../loop/ports.ts';
import type { FleetLeg } from './held-run.ts';

/** Returns the stop requests of a fleet worker's run (a leg): losing the task ends its processes at once, too. */
export function legStops(stops: SignalWatch, { dropped }: Pick<FleetLeg, 'dropped'>): SignalWatch {
  return { ...stops, hurry: AbortSignal.any([stops.hurry, dropped]) };
}

/** Returns the store of a leg. Saves on this machine, then in the fleet's database, until the worker loses the task. */
export function legStore(store: TaskStore, leg: FleetLeg): StateStore {
  leg.dropped.addEventListener('abort', () => store.mute());
  return {
    ...store,
    async save(state, events) {
      leg.dropped.throwIfAborted();
      // A failed write on this machine is only reported, so the fleet gets the step anyway.
      await store.save(state, events);
      try {
        await leg.saved(state, events);
      } catch (error) {
        store.mute();
        throw error;
      }
    },
  };
}

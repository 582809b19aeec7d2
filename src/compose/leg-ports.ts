import type { SignalWatch } from '../effects/processes/signals.ts';
import type { TaskStore } from '../effects/state/state-store.ts';
import type { StateStore } from '../loop/ports.ts';
import type { FleetLeg } from './held-run.ts';

/** Returns the stop requests of a leg: what runs is killed at once when its claim is lost. */
export function legStops(stops: SignalWatch, { dropped }: Pick<FleetLeg, 'dropped'>): SignalWatch {
  return { ...stops, hurry: AbortSignal.any([stops.hurry, dropped]) };
}

/**
 * Returns the store of a leg: each step is saved here, and then in the fleet. Once the leg is dropped, nothing is
 * written here any more, either.
 */
export function legStore(store: TaskStore, leg: FleetLeg): StateStore {
  leg.dropped.addEventListener('abort', () => store.mute());
  return {
    ...store,
    async save(state, events) {
      leg.dropped.throwIfAborted();
      // A failed write is reported and not thrown, and the fleet gets the step all the same.
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

import type { SignalWatch } from '../effects/processes/signals.ts';
import type { TaskStore } from '../effects/state/state-store.ts';
import type { StateStore } from '../loop/ports.ts';
import type { FleetLeg } from './held-run.ts';

/** Returns the stop requests for a worker's run (a leg): its processes are killed at once if it loses its claim. */
export function legStops(stops: SignalWatch, { dropped }: Pick<FleetLeg, 'dropped'>): SignalWatch {
  return { ...stops, hurry: AbortSignal.any([stops.hurry, dropped]) };
}

/**
 * Returns the store of a leg: each step is saved here first, and then in the fleet. Once the leg is dropped, nothing
 * more is written here.
 */
export function legStore(store: TaskStore, leg: FleetLeg): StateStore {
  leg.dropped.addEventListener('abort', () => store.mute());
  return {
    ...store,
    async save(state, events) {
      leg.dropped.throwIfAborted();
      // A failed write here is only reported, so the fleet gets the step anyway.
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

import { journalNotKept, neitherKept, stateNotKept } from '../report/notices.ts';

/** Says what of a run cannot be written: in one line, also if it is both the state and the journal. */
export interface Unkept {
  readonly state: (error: unknown) => void;
  readonly journal: (error: unknown) => void;
  /** Call it after each event: an event follows its step, so both had a chance to be written. */
  afterEvent(): void;
  /** Says what is not said yet. */
  tell(): void;
}

/** `writeState` tries to write the state, to find out whether a disk on which the journal fails is full. */
export function unkeptFiles(
  eventsFile: string,
  warn: (sentence: string) => void,
  writeState: () => Promise<void>,
): Unkept {
  let failed: { readonly state?: unknown; readonly journal?: unknown } = {};
  const tell = (): void => {
    const { state, journal } = failed;
    failed = {};
    if (state !== undefined && journal !== undefined) warn(neitherKept(state));
    else if (state !== undefined) warn(stateNotKept(state));
    else if (journal !== undefined) warn(journalNotKept(eventsFile, journal));
  };
  return {
    state(error) {
      failed = { ...failed, state: error };
    },
    journal(error) {
      failed = { ...failed, journal: error };
      void writeState().then(tell);
    },
    afterEvent() {
      if (failed.state !== undefined) tell();
    },
    tell,
  };
}

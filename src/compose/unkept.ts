import { journalNotKept, neitherKept, stateNotKept } from '../report/notices.ts';

/** Warns if a run's state or its journal (the log of events) cannot be written: in one line, even if both fail. */
export interface Unkept {
  readonly state: (error: unknown) => void;
  readonly journal: (error: unknown) => void;
  /** Call this after each event: by then, both the state and the journal of its step have been tried. */
  afterEvent(): void;
  /** Shows the warning for failures that were not yet reported. */
  tell(): void;
}

/** `writeState` tries to write the state after a failure of the journal, so that one warning can name both. */
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

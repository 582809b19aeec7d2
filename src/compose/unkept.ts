import { journalNotKept, neitherKept, stateNotKept } from '../report/notices.ts';

/** Warns if the state or the journal of a run cannot be written: in one line, even if both fail. */
export interface Unkept {
  readonly state: (error: unknown) => void;
  readonly journal: (error: unknown) => void;
  /** Call this after each event. An event follows the save of its step, so by then both have been tried. */
  afterEvent(): void;
  /** Shows the warning for failures that were not yet reported. */
  tell(): void;
}

/** `writeState` tries to write the state: if the journal fails because the disk is full, the state fails, too. */
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

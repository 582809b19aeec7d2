/** How many lines of text files were added and removed. */
export interface LineChanges {
  readonly added: number;
  readonly removed: number;
}

/** The line changes of a task's iterations, by the iteration's number; one is missing if its changes are unknown. */
export type LinesByIteration = Readonly<Record<number, LineChanges>>;

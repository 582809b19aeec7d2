/** How many lines of text files were added and removed. */
export interface LineChanges {
  readonly added: number;
  readonly removed: number;
}

/** The line changes of a task's iterations, by number; an iteration is missing if they are unknown. */
export type LinesByIteration = Readonly<Record<number, LineChanges>>;

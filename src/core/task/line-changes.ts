/** How many lines of text files were added and removed. */
export interface LineChanges {
  readonly added: number;
  readonly removed: number;
}

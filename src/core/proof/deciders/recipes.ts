/** What a task file can be asked to run. */
export interface Recipe {
  readonly names: readonly string[];
  /** Words that may name the recipes it runs before. */
  readonly needs: readonly string[];
  /** Its commands, as lines of a shell. */
  readonly lines: readonly string[];
}

export interface TaskFile {
  readonly recipes: readonly Recipe[];
  /** Paths of task files that it takes in. */
  readonly includes: readonly string[];
}

/** A recipe that is still read. */
export interface OpenRecipe {
  readonly names: string[];
  readonly needs: string[];
  readonly lines: string[];
}

/** Splits a text into lines; a backslash at an end joins two. */
export function joinedLines(text: string): readonly string[] {
  return text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
}

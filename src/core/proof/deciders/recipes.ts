/** A unit that a task file can be asked to run, such as a target of make. */
export interface Recipe {
  readonly names: readonly string[];
  /** Words that may name the recipes that run before this one. */
  readonly needs: readonly string[];
  /** The commands of the recipe, as lines of a shell. */
  readonly lines: readonly string[];
}

export interface TaskFile {
  readonly recipes: readonly Recipe[];
  /** Paths of task files that this one includes. */
  readonly includes: readonly string[];
}

/** A recipe whose reading is not finished yet. */
export interface OpenRecipe {
  readonly names: string[];
  readonly needs: string[];
  readonly lines: string[];
}

/** Splits a text into lines. A backslash at the end of a line joins it with the next one. */
export function joinedLines(text: string): readonly string[] {
  return text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
}

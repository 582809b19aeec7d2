/** What a task's new work tree lacks, although the work tree in which the task was started has it. */
export interface TreeLacks {
  /** Submodules without files. */
  readonly submodules: readonly string[];
  /** Files that git ignores and programs need, such as `node_modules`. */
  readonly ignored: readonly string[];
  /** The missing folder of git's hooks, as git's setting names it; null if it is there, or if ralph commits nothing. */
  readonly hooks: string | null;
}

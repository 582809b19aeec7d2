/** What a task's own new work tree has not got, although the work tree in which the task was started has it. */
export interface TreeLacks {
  /** Submodules without files. */
  readonly submodules: readonly string[];
  /** What git ignores and programs need, such as `node_modules`. */
  readonly ignored: readonly string[];
  /** The folder of git's hooks, as the setting names it; null if it is there, or if nothing is committed. */
  readonly hooks: string | null;
}

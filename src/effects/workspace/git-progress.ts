import type { InnerRequest } from './inner-repositories.ts';

export interface GitProgressRequest extends InnerRequest {
  readonly cwd: string;
}

/** What has changed between two looks at a work tree. */
export interface GitChange {
  /** Number of commits that no branch, tag or HEAD led to before, including amended and rebased ones. */
  readonly commits: number;
  /** Number of files whose content has changed, including new, deleted and committed files. */
  readonly filesChanged: number;
  /** Absolute path of the file, if only one has changed. */
  readonly onlyFile?: string;
  /** The paths of all changed files from the root of the work tree, if they are few; absent if they were not asked for. */
  readonly names?: readonly string[];
  /** Lines that changed in text files; absent if only whole files were compared. */
  readonly lines?: { readonly added: number; readonly removed: number };
}

/** Detects progress in a work tree. */
export interface GitProgress {
  /** Whether there is no repository now; then no git process is started. */
  readonly isIdle: boolean;
  /**
   * Looks at the work tree. Call it before the first iteration, and after any program other than the agent has run.
   * Resolves to the id of HEAD; null without a commit, outside a work tree, or if git fails.
   */
  mark(): Promise<string | null>;
  /**
   * Looks at the work tree and resolves to what has changed since the last look; null if that is unknown.
   * If git fails, the last look stays, so that no change is lost.
   */
  since(): Promise<GitChange | null>;
  /**
   * Resolves to what has changed since the task began at the commit `base` (null if there was none), even by the
   * command of `--after`. Null without snapshots, if git fails or takes too long, if `hurry` aborts, or if there are
   * commits but no `base`.
   */
  inAll(
    base: string | null,
    hurry: AbortSignal,
    branches?: readonly string[],
  ): Promise<GitChange | null>;
}

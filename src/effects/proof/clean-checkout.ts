import type { CommandResult } from '../../core/completion/command-result.ts';
import { copyFiles } from '../branches/copy-files.ts';
import { makeFreshCheckout } from '../branches/fresh-checkout.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { type CheckPlace, placeIn } from './check-place.ts';

export interface CleanCheckoutRequest<T> {
  readonly git: PrivateGit;
  /** Absolute path of the checkout. */
  readonly folder: string;
  /** The commit for HEAD in the checkout; null before the first commit. */
  readonly head: string | null;
  readonly tree: string;
  /** The folder that checks run in, relative to the root of the work tree, or empty. */
  readonly below: string;
  /** Which of the files that git ignores are copied into the checkout. */
  readonly copy: { readonly from: string; readonly globs: readonly string[] };
  /** Whether ralph itself writes this file; such files are never copied. */
  readonly isOwn: (file: string) => boolean;
  /** The command that prepares the checkout; null if there is none. */
  readonly setup: string | null;
  readonly run: (command: string, place: CheckPlace) => Promise<CommandResult>;
  readonly check: (place: CheckPlace) => Promise<T>;
  readonly hasPassed: (answer: T) => boolean;
}

/**
 * How the checks ended. After a failure the checkout stays in `folder` until the next one is made there, so that a
 * person can look into it; `folder` is null if it was removed.
 */
export type CleanCheck<T> =
  | { readonly kind: 'ran'; readonly answer: T; readonly folder: string | null }
  | { readonly kind: 'setup-failed'; readonly result: CommandResult; readonly folder: string };

/**
 * Runs the checks in a fresh checkout that has exactly the files of a tree, and of the files that git ignores only
 * those to be copied. Rejects with a `GitError` or the system's error if the checkout cannot be made.
 */
export async function checkClean<T>(request: CleanCheckoutRequest<T>): Promise<CleanCheck<T>> {
  const { git, folder, head, tree, below, copy, isOwn, setup, run, check } = request;
  const checkout = await makeFreshCheckout({ git, folder, head, tree });
  try {
    const place = placeIn(checkout, below);
    const places = { from: copy.from, to: place.cwd, root: checkout.folder };
    await copyFiles({ ...places, globs: copy.globs, git: git.anywhere, isOwn });
    const result = setup === null ? null : await run(setup, place);
    if (result !== null && result.exitCode !== 0) {
      return { kind: 'setup-failed', result, folder: checkout.folder };
    }
    const answer = await check(place);
    if (!request.hasPassed(answer)) return { kind: 'ran', answer, folder: checkout.folder };
    checkout.remove();
    return { kind: 'ran', answer, folder: null };
  } catch (error) {
    checkout.remove();
    throw error;
  }
}

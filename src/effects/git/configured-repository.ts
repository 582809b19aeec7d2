import path from 'node:path';
import { realPath } from '../files/real-path.ts';
import type { Git } from './git.ts';
import { gitFoldersAt } from './git-folders-at.ts';
import { type ListedSettings, pathOf, settingOf } from './listed-settings.ts';
import {
  askForExcludesFile,
  findPlaces,
  findRepository,
  type Places,
  type Repository,
} from './repository.ts';

/** A repository, and all of git's settings in it. */
interface ConfiguredRepository {
  readonly repository: Repository;
  /** Null if git cannot list the settings with their scopes, as before git 2.26. */
  readonly settings: ListedSettings | null;
}

interface ConfiguredRequest {
  readonly cwd: string;
  /** The nearest folder at or above `cwd` that has a `.git`. */
  readonly place: string;
  readonly git: Git;
  /** Lists git's settings, without those that ralph itself passes to git. */
  readonly listSettings: () => Promise<ListedSettings | null>;
  readonly home: string | undefined;
  /** Where this process has found the repository before; null if it has not. */
  readonly found: Places | null;
}

/**
 * Returns the repository around a folder, as its configuration is now; null if there is none, or git refuses to open
 * it. Takes the paths of its parts from `found` if the `.git` and the listed settings still lead there, and asks git
 * for them otherwise.
 */
export async function findConfigured(
  request: ConfiguredRequest,
): Promise<ConfiguredRepository | null> {
  const { cwd, git, home } = request;
  const settings = await request.listSettings();
  if (settings === null) {
    const repository = await findRepository(cwd, git);
    return repository && { repository, settings };
  }
  const { found, place } = request;
  const isFound = found !== null && isStillAt(found, place) && leadsTo(settings, found);
  const places = isFound ? found : await findPlaces(cwd, git);
  if (places === null) return null;
  const named = pathOf(settings, 'core.excludesfile', home);
  const excludesFile = named === undefined ? await askForExcludesFile(cwd, git) : named;
  return { repository: { ...places, excludesFile }, settings };
}

/** Whether the `.git` in `place` still leads to these places. Settings are not read here, and may lead elsewhere. */
export function isStillAt({ root, gitDir, commonDir }: Places, place: string | null): boolean {
  if (place === null || realPath(root) !== place) return false;
  const folders = gitFoldersAt(path.join(place, '.git'))?.map((folder) => path.resolve(folder));
  return folders?.[0] === gitDir && (folders[1] ?? gitDir) === commonDir;
}

/** Whether no setting names a work tree, makes the repository bare, or names another hash function than `hash`. */
function leadsTo(settings: ListedSettings, { hash }: Places): boolean {
  if (settingOf(settings, 'core.worktree') !== null) return false;
  if ((settingOf(settings, 'core.bare') ?? 'false') !== 'false') return false;
  return (settingOf(settings, 'extensions.objectformat') ?? 'sha1') === hash;
}

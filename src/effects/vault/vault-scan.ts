import { lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';
import type {
  FileFacts,
  FileFrontMatter,
  FileTask,
  VaultFile,
  WorkFolder,
} from '../../core/rescue/vault-files.ts';
import type { Here } from '../../core/task/driver.ts';
import { NOTE_WORDS, rowOfState } from '../../core/task/endings.ts';
import { hasLiveDriver, shownState } from '../../core/task/shown-task.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { CommandError } from '../../errors.ts';
import { MB, readWithin } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { leadsOut } from '../files/real-path.ts';
import { errorCode } from '../files/write-file.ts';
import { liveClaim } from '../lock/task-lock.ts';
import { findTaskEntry } from '../state/task-list.ts';
import { distrustPath } from '../trust/owner.ts';
import type { Seal } from '../trust/seal.ts';
import { readFrontMatterFields } from './front-matter-fields.ts';
import { openNotes } from './open-notes.ts';
import { readRescueRecord, withFailed } from './rescue-records.ts';
import { splitFrontMatter, taskIdOfFile } from './task-file.ts';
import { APPROVED, REJECTED } from './vault-folders.ts';

/** A vault (a user's folder of task files), and the folder with the states of its tasks. */
export interface VaultPlace {
  /** `vault` and `stateDir` are absolute paths. */
  readonly vault: string;
  readonly stateDir: string;
  readonly seal: Seal;
}

const QUIETLY = { throwIfNoEntry: false } as const;
/** A larger file cannot be a prompt. */
const PROMPT_MAX_BYTES = MB;

/** Reads facts about every file in these folders. Throws a `CommandError` for an unusable folder. */
export function lookAtVault(
  place: VaultPlace,
  folders: readonly WorkFolder[],
  here: Here,
): readonly FileFacts[] {
  const taken = new Set<string>();
  const notes = noteNames(place.vault);
  return folders.flatMap((folder) =>
    foundIn(place.vault, folder).flatMap((found) => {
      const file = readVaultFile(place.vault, folder, found, taken);
      if (file === null) return [];
      // Only task files count for `hasNamesake`, not a folder or a hidden file.
      const isTask = file.kind === 'regular' && !file.name.startsWith('.');
      if (isTask) taken.add(taskIdOfFile(file.name));
      return [factsOf(file, place, notes, here)];
    }),
  );
}

/** Reads the current facts about one file again; returns null if the file is gone. */
export function lookAgain(place: VaultPlace, seen: VaultFile, here: Here): FileFacts | null {
  const found = { name: seen.name, bytes: null };
  const file = readVaultFile(place.vault, seen.folder, found, new Set());
  if (file === null) return null;
  const facts = factsOf(file, place, noteNames(place.vault), here);
  return { ...facts, file: { ...file, hasNamesake: seen.hasNamesake } };
}

/** A name in a folder. If it is not UTF-8, `name` is escaped, and `bytes` is the real name; otherwise null. */
interface FoundName {
  readonly name: string;
  readonly bytes: Buffer | null;
}

function foundIn(vault: string, folder: WorkFolder): readonly FoundName[] {
  const full = path.join(vault, folder);
  if (leadsOut(full, vault)) {
    throw new CommandError(
      `${full} is a link that leads out of the vault; replace it with a folder.`,
    );
  }
  const why = distrustPath(full);
  if (why !== null)
    throw new CommandError(
      `${full} is not used: ${why}; run ralph as the user who owns the vault.`,
    );
  try {
    return readdirSync(full, { encoding: 'buffer' })
      .map(foundName)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw new CommandError(`${full} cannot be read (${errorCode(error)}).`);
  }
}

function foundName(bytes: Buffer): FoundName {
  const name = bytes.toString();
  if (Buffer.from(name).equals(bytes)) return { name, bytes: null };
  const escaped = bytes
    .toString('latin1')
    .replace(/[^\x20-\x7e]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return { name: escaped, bytes };
}

function readVaultFile(
  vault: string,
  folder: WorkFolder,
  { name, bytes }: FoundName,
  taken: ReadonlySet<string>,
): VaultFile | null {
  const full = path.join(vault, folder, name);
  const there =
    bytes === null ? full : Buffer.concat([Buffer.from(path.join(vault, folder, '/')), bytes]);
  const stats = lstatSync(there, QUIETLY);
  if (stats === undefined) return null;
  const kind = bytes === null ? kindOf(stats) : stats.isFile() ? 'unnamed' : 'other';
  const text = kind === 'regular' && stats.size <= PROMPT_MAX_BYTES ? readText(full) : null;
  return {
    name,
    folder,
    kind,
    touchedAt: stats.mtime.toISOString(),
    changedAt: stats.ctime.toISOString(),
    sizeBytes: stats.size,
    text,
    frontMatter: frontMatterOf(text),
    hasNamesake: taken.has(taskIdOfFile(name)),
  };
}

function kindOf(stats: Stats): VaultFile['kind'] {
  return stats.isFile() ? 'regular' : stats.isSymbolicLink() ? 'link' : 'other';
}

/** Returns the text of a file; null if it is not UTF-8 text or cannot be read. */
function readText(file: string): string | null {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const text = ifPossible(() => decoder.decode(readWithin(file, PROMPT_MAX_BYTES)));
  return text?.includes('\0') === true ? null : text;
}

const NO_FRONT_MATTER: FileFrontMatter = { type: null, problem: null };

function frontMatterOf(text: string | null): FileFrontMatter {
  const { frontMatter } = splitFrontMatter(text ?? '');
  if (frontMatter === null) return NO_FRONT_MATTER;
  const found = readFrontMatterFields(frontMatter);
  if ('problem' in found) return { type: null, problem: found.problem };
  const values = new Map(found.fields);
  const written = ['type', 'task_type', 'category']
    .map((key) => values.get(key))
    .filter((value) => typeof value === 'string');
  return { type: written.length === 0 ? null : written.join(' '), problem: null };
}

function factsOf(
  file: VaultFile,
  place: VaultPlace,
  notes: readonly string[],
  here: Here,
): FileFacts {
  const ownId = taskIdOfFile(file.name);
  const rescueId = rescueIdOf(ownId);
  const rescue = taskOf(rescueId, file, place, here);
  const record = readRescueRecord(place.stateDir, rescueId);
  const ending = rescue && rowOfState(rescue.standing, rescue.exitReason);
  const counted =
    rescue !== null && ending?.verdict === 'failed' ? withFailed(record, rescue.startedAt) : record;
  return {
    file,
    ownId,
    own: taskOf(ownId, file, place, here),
    rescueId,
    rescue,
    isOurs: record.is_ours,
    failedRescues: counted.failed.length,
    ownNote: notes.find((name) => isNoteOf(ownId, name)) ?? null,
  };
}

/** The longest valid task id. */
const LONGEST_ID = 128;

function rescueIdOf(ownId: string): string {
  const prefix = 'stuck_';
  // A long id loses its beginning, because the digits that distinguish similar names are at the end.
  return `${prefix}${ownId.slice(-(LONGEST_ID - prefix.length))}`;
}

function taskOf(
  taskId: string,
  file: VaultFile,
  { vault, stateDir, seal }: VaultPlace,
  here: Here,
): FileTask | null {
  const isStarting = liveClaim(stateDir, taskId, here) !== null;
  const entry = findTaskEntry(stateDir, taskId, seal);
  if (entry === null) return isStarting ? { ...UNKNOWN, standing: 'live' } : null;
  const { found, archived } = entry;
  if (found.kind !== 'task') {
    if (archived) return isStarting ? { ...UNKNOWN, standing: 'live' } : null;
    const standing = isStarting ? 'live' : found.kind === 'too-new' ? 'newer ralph' : found.kind;
    return { ...UNKNOWN, standing };
  }
  const { state } = found;
  // An archived task counts only if its seal (a signature) shows that ralph wrote it for this user.
  if (archived && !found.isOwn && !isStarting) return null;
  const task = { ...fileTask(state, vault, here), isOwn: found.isOwn };
  if (isStarting) return { ...task, standing: 'live' };
  // A task of another file name belongs to a different file, whose name gives the same task id.
  if (state.task_file !== null && path.basename(state.task_file) !== file.name) return null;
  // Of the archived tasks, only a completed one says something about the current file.
  if (archived && state.status !== 'completed') return null;
  return state.status === 'completed' && state.task_file === null ? null : task;
}

const UNKNOWN: FileTask = {
  standing: 'unreadable',
  // Without a readable state, there is nothing whose writer could be doubted.
  isOwn: true,
  exitReason: null,
  startedAt: '',
  finishedAt: null,
  isKeptByProgram: false,
  isRejected: false,
  approval: null,
};

function fileTask(state: TaskState, vault: string, here: Here): Omit<FileTask, 'isOwn'> {
  const { approval } = state;
  return {
    standing: hasLiveDriver(state, here) ? 'live' : shownState(state, here),
    exitReason: state.exit_reason,
    startedAt: state.started_at,
    finishedAt: state.finished_at,
    isKeptByProgram: state.kept_by === 'library',
    isRejected: approval?.decision === 'rejected',
    approval:
      approval === null
        ? null
        : {
            file: approval.file,
            expiresAt: approval.expires_at,
            isAnswered: [APPROVED, REJECTED].some(
              (folder) => lstatSync(path.join(vault, folder, approval.file), QUIETLY) !== undefined,
            ),
          },
  };
}

function noteNames(vault: string): readonly string[] {
  return openNotes(vault).map(({ file }) => path.basename(file));
}

const RUN_NOTE = new RegExp(`^RALPH_(?:${NOTE_WORDS.join('|')})_(.+)_\\d{8}T\\d{6}Z\\.md$`);

function isNoteOf(taskId: string, name: string): boolean {
  return RUN_NOTE.exec(name)?.[1] === taskId;
}

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isSnapshotRefs, snapshotRefs } from '../../core/snapshots/snapshot-names.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { writeFileAtomic } from '../files/write-file.ts';
import { fileOf, type Seal } from '../trust/seal.ts';

/*
 * The agent can write the refs of snapshots, so they do not say which commits are snapshots. A file sealed with the
 * user's key does, which the agent cannot forge. The refs only keep git from removing the commits:
 *
 *   commit ──► its id in snapshots.json, and where the refs are ──► its ref
 *
 * If ralph is killed in between, the next process that runs the task makes the ref.
 */

/** A snapshot, by the name and the commit that the task has noted for it. */
export interface SnapshotId {
  /** The last part of its ref, such as `3` or `undo.1`. */
  readonly name: string;
  readonly commit: string;
}

/** The ids of a task's snapshots, in the order in which they were taken. */
export interface SnapshotIds {
  /** The beginning of the names of their refs, for example `refs/ralph/fix-login@3f9a1c04`. */
  readonly refs: string;
  readonly all: readonly SnapshotId[];
  /** Whether the first snapshot was taken before the agent began. */
  readonly isFromStart: boolean;
  /** Adds a snapshot, or replaces the one of this name. Resolves once it is safely stored. */
  add(added: SnapshotId): Promise<void>;
  remove(names: ReadonlySet<string>): Promise<void>;
}

/** Where the ids of a task are stored, and how the file is sealed. */
export interface IdsPlace {
  readonly folder: string;
  readonly seal: Seal;
  readonly task: Pick<TaskState, 'task_id' | 'started_at' | 'git'>;
}

/** Opens the ids of a task; none for a new one, or if the file is missing or damaged. */
export function openSnapshotIds({ folder, seal, task }: IdsPlace, isNew = false): SnapshotIds {
  const stored = storedSnapshotIds(folder);
  const isFromStart = isNew || stored.isFromStart;
  let all = isNew ? [] : stored.all;
  // If a process was killed before the task's state named the refs, only this file names them, and a ref may
  // already exist.
  const noted = task.git.snapshots ?? stored.refs;
  const refs = noted === '' ? snapshotRefs(task.task_id, randomBytes(4).toString('hex')) : noted;
  const file = path.join(folder, FILE);
  const what = fileOf('snapshots', task);
  /** Includes ids that another process has added to the file: `ralph land` and a resumed task may run at the same time. */
  const known = (): readonly SnapshotId[] => {
    const text = tryReadText(file, MAX_BYTES);
    const others = text !== null && seal.isClosed(text, what) ? storedSnapshotIds(folder).all : [];
    const names = new Set(all.map(({ name }) => name));
    return [...all, ...others.filter(({ name }) => !names.has(name))];
  };
  const write = async (next: readonly SnapshotId[]): Promise<void> => {
    const lines = next.map((each) => safeJson(each));
    const json = `{"refs":${safeJson(refs)},"from_start":${isFromStart},"snapshots":[\n${lines.join(',\n')}\n]}\n`;
    await writeFileAtomic(file, seal.close(json, what));
    all = next;
  };
  return {
    refs,
    isFromStart,
    get all() {
      return all;
    },
    add: (added) => write([...known().filter(({ name }) => name !== added.name), added]),
    remove: (names) => write(known().filter(({ name }) => !names.has(name))),
  };
}

/** For a snapshot store that makes no snapshots with names. */
export const NO_SNAPSHOT_IDS: SnapshotIds = {
  refs: '',
  all: [],
  isFromStart: false,
  add: async () => {},
  remove: async () => {},
};

const FILE = 'snapshots.json';
const MAX_BYTES = 16 * MB;

/** Reads the ids of a task for a command that makes no snapshots. */
export function readSnapshotIds(taskFolder: string): SnapshotIds {
  return { ...NO_SNAPSHOT_IDS, ...storedSnapshotIds(taskFolder) };
}

/** Reads the ids in a task's folder; the caller checks the seal. Empty if they are missing or damaged. */
export function storedSnapshotIds(
  taskFolder: string,
): Pick<SnapshotIds, 'refs' | 'all' | 'isFromStart'> {
  const text = tryReadText(path.join(taskFolder, FILE), MAX_BYTES);
  const { refs, snapshots, from_start } = (text === null ? null : parseObject(text)) ?? {};
  const isWhole = Array.isArray(snapshots) && snapshots.every(isId);
  return {
    refs: typeof refs === 'string' && isSnapshotRefs(refs) ? refs : '',
    all: isWhole ? snapshots : [],
    isFromStart: isWhole && from_start === true,
  };
}

function isId(value: unknown): value is SnapshotId {
  if (typeof value !== 'object' || value === null) return false;
  const { name, commit } = value as Partial<Record<keyof SnapshotId, unknown>>;
  return typeof name === 'string' && typeof commit === 'string' && COMMIT.test(commit);
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

import { createHash, type Hash } from 'node:crypto';
import type { PrivateGit } from './private-git.ts';
import { SnapshotError } from './snapshot-error.ts';

/*
 * The agent can write git's objects, and git reads them without comparing them with their ids. So whatever ralph acts
 * on is hashed here: the id of a commit vouches for its tree, the id of a tree for its files, wherever they lie.
 */

/** What reads objects: the git of snapshots, which knows no replaced objects. */
export type ObjectReader = Pick<PrivateGit, 'run'>;

/** An object whose content is what its id says. */
export interface VerifiedObject {
  readonly type: string;
  readonly content: Buffer;
}

/** Reads objects by their full ids. Those that are missing, or are not what their ids say, are left out. */
export async function readObjects(
  git: ObjectReader,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, VerifiedObject>> {
  const found = new Map<string, VerifiedObject>();
  await scan(git, ids, true, (id, object) => found.set(id, object));
  return found;
}

/** Returns those of the ids whose objects are missing or are not what their ids say, however large they are. */
export async function wrongObjects(
  git: ObjectReader,
  ids: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const wrong = new Set(ids);
  await scan(git, [...wrong], false, (id) => wrong.delete(id));
  return wrong;
}

/** A commit, as its own object says. */
export interface VerifiedCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** The email address of its author. */
  readonly author: string;
  readonly message: string;
}

/** Reads commits as `readObjects` reads objects; leaves out what is no commit. */
export async function readCommits(
  git: ObjectReader,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, VerifiedCommit>> {
  const commits = new Map<string, VerifiedCommit>();
  for (const [id, { type, content }] of await readObjects(git, ids)) {
    if (type === 'commit') commits.set(id, parseCommit(content.toString()));
  }
  return commits;
}

function parseCommit(text: string): VerifiedCommit {
  const end = text.indexOf('\n\n');
  const head = text.slice(0, end);
  const valuesOf = (name: string): readonly string[] =>
    [...head.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, value = '']) => value);
  return {
    tree: valuesOf('tree')[0] ?? '',
    parents: valuesOf('parent'),
    author: /<([^>]*)>/.exec(valuesOf('author')[0] ?? '')?.[1] ?? '',
    message: text.slice(end + 2),
  };
}

/** Returns the tree that each id names; the id of a commit names its tree. Rejects with a `SnapshotError`. */
export async function treesOf(
  git: ObjectReader,
  ids: readonly string[],
): Promise<readonly string[]> {
  const objects = await readObjects(git, ids);
  return ids.map((id) => {
    const object = objects.get(id);
    if (object?.type === 'tree') return id;
    if (object?.type === 'commit') return parseCommit(object.content.toString()).tree;
    throw new SnapshotError(lacks(id));
  });
}

/** Rejects with a `SnapshotError` if one of the objects is missing or is not what its id says. */
export async function requireObjects(git: ObjectReader, ids: Iterable<string>): Promise<void> {
  const [wrong] = await wrongObjects(git, ids);
  if (wrong !== undefined) throw new SnapshotError(lacks(wrong));
}

/** Says that an object is missing or wrong, as half a sentence. */
export function lacks(id: string): string {
  return `git's object ${id.slice(0, 12)} is missing, or is not what its id says`;
}

/** An object that is being read. */
interface Reading {
  readonly id: string;
  readonly type: string;
  readonly hash: Hash;
  readonly parts: Buffer[];
  left: number;
}

/** Reads objects one after the other, and calls `onRight` with those that are what their ids say. */
async function scan(
  git: ObjectReader,
  ids: Iterable<string>,
  isKept: boolean,
  onRight: (id: string, object: VerifiedObject) => void,
): Promise<void> {
  let wanted = [...new Set(ids)];
  for (let tries = 0; wanted.length > 0 && tries < TRIES_AT_MOST; tries += 1) {
    const answered = await scanOnce(git, wanted, isKept, onRight);
    // Git ends at an object that it cannot unpack: that one is wrong, and the others are still to be read.
    wanted = wanted.slice(answered + 1);
  }
}

/** A repository with more broken objects has lost the others, too. */
const TRIES_AT_MOST = 50;

/** Resolves to the number of objects that git has answered for. */
async function scanOnce(
  git: ObjectReader,
  wanted: readonly string[],
  isKept: boolean,
  onRight: (id: string, object: VerifiedObject) => void,
): Promise<number> {
  let answered = 0;
  let head = '';
  let reading: Reading | null = null;
  const onOutput = (chunk: Buffer): void => {
    let at = 0;
    while (at < chunk.length) {
      if (reading === null) {
        const end = chunk.indexOf(LINE_BREAK, at);
        head += chunk.subarray(at, end === -1 ? chunk.length : end).toString('latin1');
        if (end === -1) return;
        at = end + 1;
        reading = begin(head);
        if (reading === null) answered += 1;
        head = '';
      } else {
        const part = chunk.subarray(at, at + reading.left);
        const isEnd = part.length === reading.left;
        // A line break follows the content.
        const content = isEnd ? part.subarray(0, -1) : part;
        reading.hash.update(content);
        if (isKept) reading.parts.push(Buffer.from(content));
        reading.left -= part.length;
        at += part.length;
        if (!isEnd) continue;
        const { id, type, hash, parts } = reading;
        if (hash.digest('hex') === id) onRight(id, { type, content: Buffer.concat(parts) });
        answered += 1;
        reading = null;
      }
    }
  };
  const input = Buffer.from(wanted.map((id) => `${id}\n`).join(''));
  await git.run(['cat-file', '--batch'], { input, onOutput });
  return answered;
}

const LINE_BREAK = 10;

/** Reads a line such as `<id> blob 12`; null for one that says that the object is missing. */
function begin(line: string): Reading | null {
  const [, id, type, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
  if (id === undefined || type === undefined || size === undefined) return null;
  const hash = createHash(id.length === SHA256_LENGTH ? 'sha256' : 'sha1');
  hash.update(`${type} ${size}\0`);
  return { id, type, hash, parts: [], left: Number(size) + 1 };
}

const SHA256_LENGTH = 64;

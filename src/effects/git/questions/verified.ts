import { createHash, type Hash, randomUUID } from 'node:crypto';
import { askGit, type Git } from '../call/git.ts';
import { didNotAnswer, GitError } from '../git-error.ts';

/*
 * The agent can write git's objects, and git reads them without comparing them with their ids. So whatever ralph acts
 * on is hashed here: the id of a commit vouches for its tree, the id of a tree for its files, wherever they lie. The
 * git used here must run with GIT_NO_REPLACE_OBJECTS.
 */

/** An object whose content is what its id says. */
export interface VerifiedObject {
  readonly type: string;
  readonly content: Buffer;
}

/** Reads objects by their full ids. Those that are missing, or are not what their ids say, are left out. */
export async function readObjects(
  git: Git,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, VerifiedObject>> {
  const found = new Map<string, VerifiedObject>();
  await scan(git, ids, true, (id, object) => found.set(id, object));
  return found;
}

/** Returns those of the ids whose objects are missing or are not what their ids say, however large they are. */
export async function wrongObjects(git: Git, ids: Iterable<string>): Promise<ReadonlySet<string>> {
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
  git: Git,
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

/** Returns the tree that each id names; the id of a commit names its tree. Rejects with a `GitError`. */
export async function treesOf(git: Git, ids: readonly string[]): Promise<readonly string[]> {
  const objects = await readObjects(git, ids);
  return ids.map((id) => {
    const object = objects.get(id);
    if (object?.type === 'tree') return id;
    if (object?.type === 'commit') return parseCommit(object.content.toString()).tree;
    throw new GitError(lacks(id));
  });
}

/** Rejects with a `GitError` if one of the objects is missing or is not what its id says. */
export async function requireObjects(git: Git, ids: Iterable<string>): Promise<void> {
  const [wrong] = await wrongObjects(git, ids);
  if (wrong !== undefined) throw new GitError(lacks(wrong));
}

/** Says that an object is missing or wrong, as a clause. */
export function lacks(id: string): string {
  return `git's object ${id.slice(0, 12)} is missing, or is not what its id says`;
}

interface Reading {
  readonly type: string;
  readonly hash: Hash;
  readonly parts: Buffer[];
  /** How many bytes are still to come, counting the line break after the content. */
  left: number;
}

/** Reads objects one after the other, and calls `onRight` with those that are what their ids say. */
async function scan(
  git: Git,
  ids: Iterable<string>,
  isKept: boolean,
  onRight: (id: string, object: VerifiedObject) => void,
): Promise<void> {
  const open = [[...new Set(ids)]];
  for (let runs = 0; runs < RUNS_AT_MOST; runs += 1) {
    const wanted = open.pop();
    if (wanted === undefined) return;
    if (wanted.length === 0) continue;
    const found = await scanOnce(git, wanted, isKept);
    if (found !== null) for (const [id, object] of found) onRight(id, object);
    else if (wanted.length > 1) {
      // One of the objects makes git fail, or is longer than its header says, so that nothing after it can be
      // believed. Each half is read by itself.
      const half = Math.ceil(wanted.length / 2);
      open.push(wanted.slice(half), wanted.slice(0, half));
    }
  }
}

/** Bounds the time for a repository with many broken objects. Objects not read by then count as missing. */
const RUNS_AT_MOST = 200;

/**
 * Resolves to those of the objects that are what their ids say; null if git has not answered for just these, in their
 * order. Rejects with a `GitError` if git did not end by itself.
 */
async function scanOnce(
  git: Git,
  wanted: readonly string[],
  isKept: boolean,
): Promise<ReadonlyMap<string, VerifiedObject> | null> {
  // Git begins its header of each object with this, since the content of an object can look like a header.
  const sign = randomUUID();
  const found = new Map<string, VerifiedObject>();
  let at = 0;
  let isInStep = true;
  let head = '';
  let reading: Reading | null = null;
  const takeHead = (line: string): void => {
    const id = wanted[at] ?? '';
    if (line === `${id} missing`) at += 1;
    else reading = begin(line, `${sign} ${id} `, id);
    isInStep = at <= wanted.length && (reading !== null || line === `${id} missing`);
  };
  const takeContent = (chunk: Buffer, now: Reading): void => {
    const isEnd = chunk.length === now.left;
    const content = isEnd ? chunk.subarray(0, -1) : chunk;
    now.hash.update(content);
    if (isKept) now.parts.push(Buffer.from(content));
    now.left -= chunk.length;
    if (!isEnd) return;
    isInStep = chunk.at(-1) === LINE_BREAK;
    const id = wanted[at] ?? '';
    if (now.hash.digest('hex') === id) {
      found.set(id, { type: now.type, content: Buffer.concat(now.parts) });
    }
    at += 1;
    reading = null;
  };
  const onOutput = (chunk: Buffer): void => {
    let place = 0;
    while (isInStep && place < chunk.length) {
      if (reading !== null) {
        const part = chunk.subarray(place, place + reading.left);
        place += part.length;
        takeContent(part, reading);
        continue;
      }
      const end = chunk.indexOf(LINE_BREAK, place);
      head += chunk.subarray(place, end === -1 ? chunk.length : end).toString('latin1');
      if (end === -1) return;
      place = end + 1;
      takeHead(head);
      head = '';
    }
  };
  const input = Buffer.from(wanted.map((id) => `${id}\n`).join(''));
  const format = `--batch=${sign} %(objectname) %(objecttype) %(objectsize)`;
  const { exitCode } = await askGit(git, ['cat-file', format], { input, onOutput });
  if (exitCode === null) throw new GitError(didNotAnswer('cat-file'));
  const isWhole = isInStep && at === wanted.length && reading === null && head === '';
  return exitCode === 0 && isWhole ? found : null;
}

const LINE_BREAK = 10;

/** Reads git's header of an object, which begins with `start` and goes on as `blob 12`; null for any other line. */
function begin(line: string, start: string, id: string): Reading | null {
  const [, type, size] = /^(\w+) (\d+)$/.exec(line.slice(start.length)) ?? [];
  if (!line.startsWith(start) || type === undefined || size === undefined) return null;
  const hash = createHash(id.length === SHA256_LENGTH ? 'sha256' : 'sha1');
  hash.update(`${type} ${size}\0`);
  return { type, hash, parts: [], left: Number(size) + 1 };
}

const SHA256_LENGTH = 64;

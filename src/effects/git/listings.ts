import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { LineChanges } from '../../core/task/line-changes.ts';
import type { Repository } from './repository.ts';
import type { TreePath } from './tree-path.ts';

/*
 * Readers of what git lists with `-z`, one for each format. Their input is latin1, which keeps every byte of a name.
 */

/** An entry of git's index. */
export interface IndexEntry {
  readonly mode: string;
  readonly id: string;
  readonly name: TreePath;
}

/** Returns the path of an index entry, and its mode and id as a `TreeEntry`. */
export function asEntry({ mode, id, name }: IndexEntry): readonly [TreePath, TreeEntry] {
  return [name, `${mode} ${id}`];
}

/** A line of `git ls-files -s`. */
export interface StagedEntry extends IndexEntry {
  /** `0`, or a side of a conflict: `1` to `3`. */
  readonly stage: string;
  /** With `-v`: `H` for an ordinary entry, `S` for one outside a sparse checkout; lower case if assumed unchanged. */
  readonly tag: string;
}

/** Splits names, each of which ends with NUL. */
export function readNames(output: string): readonly TreePath[] {
  return output.split('\0').filter((name) => name !== '');
}

/** A setting, with what `--show-scope` and `--show-origin` say about it. */
export interface ListedSetting {
  readonly columns: readonly string[];
  readonly name: string;
  /** For git, a setting without a value is true. */
  readonly value: string;
}

/** Reads `config -z` with values; `columns` is how many columns stand before each setting. */
export function readSettings(output: string, columns = 0): readonly ListedSetting[] {
  const settings: ListedSetting[] = [];
  const parts = output.split('\0');
  for (let at = 0; at + columns + 1 < parts.length; at += columns + 1) {
    const setting = parts[at + columns] ?? '';
    const end = setting.indexOf('\n');
    settings.push({
      columns: parts.slice(at, at + columns),
      name: end === -1 ? setting : setting.slice(0, end),
      value: end === -1 ? 'true' : setting.slice(end + 1),
    });
  }
  return settings;
}

/** Reads `check-attr -z` of one attribute: its value by path. */
export function readAttribute(output: string): ReadonlyMap<TreePath, string> {
  const values = new Map<TreePath, string>();
  const parts = output.split('\0');
  for (let at = 0; at + 3 < parts.length; at += 3) {
    values.set(parts[at] ?? '', parts[at + 2] ?? '');
  }
  return values;
}

/** Yields what stands before the tab of each line, and the name after it. Twice as fast as a regular expression. */
function* readTabbed(output: string): Generator<readonly [words: string, name: TreePath]> {
  for (let start = 0, end = 0; end !== -1; start = end + 1) {
    end = output.indexOf('\0', start);
    const line = output.slice(start, end === -1 ? undefined : end);
    const tab = line.indexOf('\t');
    if (tab !== -1) yield [line.slice(0, tab), line.slice(tab + 1)];
  }
}

/**
 * Reads `ls-files -s`, with `-v` or without. Each iteration parses the listing again, entry by entry: all entries of a
 * large repository together would take ten times the memory of their listing.
 */
export function readStaged(output: string): Iterable<StagedEntry> {
  return {
    *[Symbol.iterator]() {
      for (const [words, name] of readTabbed(output)) {
        const tag = words[1] === ' ' ? words.slice(0, 1) : 'H';
        const entry = words[1] === ' ' ? words.slice(2) : words;
        yield {
          tag,
          mode: entry.slice(0, 6),
          id: entry.slice(7, -2),
          stage: entry.slice(-1),
          name,
        };
      }
    },
  };
}

/** Returns the mode and id of each path in an index, or `conflict` for a path that has to be merged. */
export function heldBy(entries: Iterable<StagedEntry>): ReadonlyMap<TreePath, string> {
  const held = new Map<TreePath, string>();
  for (const { mode, id, stage, name } of entries) {
    held.set(name, stage === '0' ? `${mode} ${id}` : 'conflict');
  }
  return held;
}

/** Reads `ls-tree -r`: the mode and id by path, and with `-t` the ids of the folders. */
export function readTree(output: string): {
  readonly files: ReadonlyMap<TreePath, string>;
  readonly folders: readonly string[];
} {
  const files = new Map<TreePath, string>();
  const folders: string[] = [];
  for (const [words, name] of readTabbed(output)) {
    const [mode = '', type, id = ''] = words.split(' ');
    if (type === 'tree') folders.push(id);
    else files.set(name, `${mode} ${id}`);
  }
  return { files, folders };
}

/** Reads `--raw` of diffs made without renames. With `-t` a path that changed between file and folder comes twice. */
export function* readRaw(
  output: string,
): Iterable<readonly [TreePath, { readonly from: TreeEntry; readonly to: TreeEntry }]> {
  const parts = output.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const found = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(parts[at] ?? '');
    const [, oldMode = '', newMode = '', oldId = '', newId = ''] = found ?? [];
    if (found === null) continue;
    yield [parts[at + 1] ?? '', { from: entryOf(oldMode, oldId), to: entryOf(newMode, newId) }];
  }
}

function entryOf(mode: string, id: string): TreeEntry {
  return /^0+$/.test(mode) ? null : `${mode} ${id}`;
}

/** Reads `--numstat`, made without renames; null for a binary file, which has no lines. */
export function readNumstat(output: string): ReadonlyMap<TreePath, LineChanges | null> {
  return new Map(
    [...output.matchAll(/(\d+|-)\t(\d+|-)\t([^\0]+)\0/g)].map((line) => {
      const [, added = '', removed = '', name = ''] = line;
      const isText = added !== '-';
      return [name, isText ? { added: Number(added), removed: Number(removed) } : null];
    }),
  );
}

/**
 * Returns input for `update-index -z --index-info` that sets these entries, and removes paths whose entry is null.
 * Removals come first, since a file may have to make room for a folder of the same name. `entries` is iterated twice.
 */
export function indexInfo(
  entries: Iterable<readonly [TreePath, TreeEntry]>,
  { hash }: Pick<Repository, 'hash'>,
): Uint8Array {
  const gone = `0 ${'0'.repeat(hash === 'sha256' ? 64 : 40)}`;
  const lengthOf = (name: TreePath, to: TreeEntry): number => (to ?? gone).length + name.length + 2;
  let length = 0;
  let atOfRest = 0;
  for (const [name, to] of entries) {
    length += lengthOf(name, to);
    if (to === null) atOfRest += lengthOf(name, to);
  }
  const input = Buffer.alloc(length);
  let atOfGone = 0;
  for (const [name, to] of entries) {
    const line = `${to ?? gone}\t${name}\0`;
    if (to === null) atOfGone += input.write(line, atOfGone, 'latin1');
    else atOfRest += input.write(line, atOfRest, 'latin1');
  }
  return input;
}

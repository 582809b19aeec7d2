import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One thing that was done to a file, as `records-files.cjs` notes it. */
type FileOp =
  | { readonly op: 'create'; readonly file: string; readonly inode: number }
  | { readonly op: 'write' | 'sync'; readonly inode: number; readonly content: string }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'remove' | 'mkdir' | 'link'; readonly file: string }
  | { readonly op: 'sync-folder'; readonly file: string; readonly names: readonly string[] };

export function readOps(file: string): readonly FileOp[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** What a power cut makes of data that was not synced; names are on disk, but for `nothing`. */
export const CUTS = ['data-gone', 'data-torn', 'data-zeroed', 'nothing'] as const;
type Cut = (typeof CUTS)[number];

interface Content {
  durable: Buffer;
  current: Buffer;
}

/**
 * A disk whose power can be cut after any operation. Data is durable once it was synced, a name once its
 * folder was.
 */
export function replayedDisk(ops: readonly FileOp[]) {
  const contents = new Map<number, Content>();
  let names = new Map<string, number>();
  const durableNames = new Map<string, number>();
  let done = 0;

  const step = (op: FileOp): void => {
    switch (op.op) {
      case 'create':
        contents.set(op.inode, { durable: Buffer.alloc(0), current: Buffer.alloc(0) });
        names.set(op.file, op.inode);
        return;
      case 'write':
      case 'sync': {
        const content = contents.get(op.inode);
        if (content === undefined) return;
        if (op.op === 'write') content.current = Buffer.from(op.content, 'base64');
        else content.durable = Buffer.from(op.content, 'base64');
        return;
      }
      case 'rename':
        names = moved(names, op.from, op.to);
        return;
      case 'remove':
        names = new Map([...names].filter(([name]) => !isAtOrBelow(name, op.file)));
        return;
      case 'sync-folder':
        for (const [name] of durableNames) {
          if (dirname(name) === op.file && !op.names.includes(name.slice(op.file.length + 1))) {
            durableNames.delete(name);
          }
        }
        for (const [name, inode] of names) {
          if (dirname(name) === op.file && op.names.includes(name.slice(op.file.length + 1))) {
            durableNames.set(name, inode);
          }
        }
        return;
      case 'mkdir':
      case 'link':
        return;
    }
  };

  return {
    /** Does the next operation; false where there is none. */
    next(): boolean {
      const op = ops[done];
      if (op === undefined) return false;
      step(op);
      done += 1;
      return true;
    },
    /** What a file of this name holds while the power is on; empty where there is none. */
    read(file: string): string {
      const inode = names.get(file);
      return (inode === undefined ? undefined : contents.get(inode))?.current.toString() ?? '';
    },
    /** Whether a file of this name is durable with what it holds. */
    isDurable(file: string): boolean {
      const inode = names.get(file);
      const content = inode === undefined ? undefined : contents.get(inode);
      return content?.durable.equals(content.current) === true && durableNames.get(file) === inode;
    },
    /** Writes to a folder what the disk holds after a power cut. */
    cut(how: Cut, from: string, to: string): void {
      rmSync(to, { recursive: true, force: true });
      mkdirSync(to, { recursive: true, mode: 0o700 });
      for (const [name, inode] of how === 'nothing' ? durableNames : names) {
        const content = contents.get(inode);
        if (content === undefined) continue;
        const file = join(to, name.slice(from.length + 1));
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, after(how, content), { mode: 0o600 });
      }
    },
  };
}

function moved(names: ReadonlyMap<string, number>, from: string, to: string): Map<string, number> {
  const others = [...names].filter(([name]) => !isAtOrBelow(name, from) && !isAtOrBelow(name, to));
  const taken = [...names].filter(([name]) => isAtOrBelow(name, from));
  return new Map([
    ...others,
    ...taken.map(([name, inode]) => [`${to}${name.slice(from.length)}`, inode] as const),
  ]);
}

function isAtOrBelow(name: string, folder: string): boolean {
  return name === folder || name.startsWith(`${folder}/`);
}

function after(how: Cut, { durable, current }: Content): Buffer {
  if (durable.equals(current) || how === 'data-gone' || how === 'nothing') return durable;
  if (how === 'data-zeroed') {
    const isLonger = current.subarray(0, durable.length).equals(durable);
    const zeros = Buffer.alloc(current.length - (isLonger ? durable.length : 0));
    return isLonger ? Buffer.concat([durable, zeros]) : zeros;
  }
  const half = Math.floor(current.length / 2);
  return Buffer.concat([current.subarray(0, half), durable.subarray(half)]);
}

/** The trees of an undo or a redo, which are needed to finish it or to take it back. */
export interface UndoTrees {
  /** The tree as ralph left it before the undo, with the files that the undo is about to replace. */
  readonly fromTree: string;
  /** The tree that the undo leaves, without changes of others. */
  readonly leftTree: string;
  /** The name of the snapshot to which the undo goes back, for example `3.0`. */
  readonly base: string;
  readonly isRedo: boolean;
}

/** The content of a snapshot's commit message. The subject is for people who look at the snapshot with git. */
export interface SnapshotAbout {
  readonly taskId: string;
  /** Counts up with each snapshot of the task, since several may be taken within a second. */
  readonly order: number;
  readonly at: string;
  /** A few words, such as `iteration 3: answered`. */
  readonly subject: string;
  /** The full name of the branch, or null if HEAD was detached. */
  readonly branch: string | null;
  /** Set only for a snapshot that is taken before an undo or a redo. */
  readonly undone?: UndoTrees;
}

/** Writes the message of a snapshot. */
export function snapshotMessage(about: SnapshotAbout): string {
  const { undone } = about;
  const trailers = [
    ['Ralph-Task', about.taskId],
    ['Ralph-Order', String(about.order)],
    ['Ralph-Time', about.at],
    ['Ralph-Branch', about.branch ?? DETACHED],
    ...(undone === undefined
      ? []
      : [
          ['Ralph-From', undone.fromTree],
          ['Ralph-Left', undone.leftTree],
          ['Ralph-Base', undone.base],
          ...(undone.isRedo ? [['Ralph-Redo', 'yes']] : []),
        ]),
  ];
  return `${about.subject}\n\n${trailers.map((pair) => pair.join(': ')).join('\n')}\n`;
}

const DETACHED = '(detached)';

/** Adds the git operations that are unfinished in the repository, for example `merge`, to a message. */
export function withUnderWay(message: string, underWay: readonly string[]): string {
  return underWay.length === 0 ? message : `${message}Ralph-Under-Way: ${underWay.join(', ')}\n`;
}

/** What was read from the message of a snapshot. */
export interface ReadSnapshotMessage {
  readonly subject: string;
  readonly order: number;
  readonly at: string;
  readonly branch: string | null;
  /** The git operations that were unfinished in the repository, for example `merge`. */
  readonly underWay: readonly string[];
  /** Null if the snapshot was not taken before an undo or a redo. */
  readonly undone: UndoTrees | null;
}

/** Reads a message; null if ralph did not write it. */
export function readSnapshotMessage(message: string): ReadSnapshotMessage | null {
  const order = trailer(message, 'Ralph-Order');
  const at = trailer(message, 'Ralph-Time');
  const branch = trailer(message, 'Ralph-Branch');
  if (order === null || at === null || !/^\d{1,9}$/.test(order)) return null;
  const [subject = ''] = message.split('\n');
  return {
    subject,
    order: Number(order),
    at,
    branch: branch === DETACHED ? null : branch,
    underWay: trailer(message, 'Ralph-Under-Way')?.split(', ') ?? [],
    undone: readUndone(message),
  };
}

function readUndone(message: string): UndoTrees | null {
  const fromTree = trailer(message, 'Ralph-From');
  const leftTree = trailer(message, 'Ralph-Left');
  const base = trailer(message, 'Ralph-Base');
  if (fromTree === null || leftTree === null || base === null) return null;
  return { fromTree, leftTree, base, isRedo: trailer(message, 'Ralph-Redo') !== null };
}

function trailer(message: string, name: string): string | null {
  return new RegExp(`^${name}: (.+)$`, 'm').exec(message)?.[1] ?? null;
}

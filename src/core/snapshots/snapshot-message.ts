/** What the message of a snapshot says; its subject is for people who look at it with git. */
export interface SnapshotAbout {
  readonly taskId: string;
  /** Counts up with each snapshot of the task, since several may be taken within a second. */
  readonly order: number;
  readonly at: string;
  /** A few words, such as `iteration 3: answered`. */
  readonly subject: string;
  /** The full name of the branch, or null if HEAD was detached. */
  readonly branch: string | null;
  /** For an undo: the tree that it leaves behind. */
  readonly leftTree?: string;
}

/** Writes the message of a snapshot. */
export function snapshotMessage(about: SnapshotAbout): string {
  const trailers = [
    ['Ralph-Task', about.taskId],
    ['Ralph-Order', String(about.order)],
    ['Ralph-Time', about.at],
    ['Ralph-Branch', about.branch ?? '(detached)'],
    ...(about.leftTree === undefined ? [] : [['Ralph-Left', about.leftTree]]),
  ];
  return `${about.subject}\n\n${trailers.map((pair) => pair.join(': ')).join('\n')}\n`;
}

/** What was read from the message of a snapshot. */
export interface ReadSnapshotMessage {
  readonly subject: string;
  readonly order: number;
  readonly at: string;
  readonly leftTree: string | null;
}

/** Reads a message; null if ralph did not write it. */
export function readSnapshotMessage(message: string): ReadSnapshotMessage | null {
  const order = trailer(message, 'Ralph-Order');
  const at = trailer(message, 'Ralph-Time');
  if (order === null || at === null || !/^\d{1,9}$/.test(order)) return null;
  const [subject = ''] = message.split('\n');
  return { subject, order: Number(order), at, leftTree: trailer(message, 'Ralph-Left') };
}

function trailer(message: string, name: string): string | null {
  return new RegExp(`^${name}: (.+)$`, 'm').exec(message)?.[1] ?? null;
}

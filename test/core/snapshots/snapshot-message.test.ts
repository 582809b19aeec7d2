import { expect, test } from 'vitest';
import {
  readSnapshotMessage,
  snapshotMessage,
  withUnderWay,
} from '../../../src/core/snapshots/snapshot-message.ts';

const ABOUT = {
  taskId: 't',
  order: 7,
  at: '2026-01-05T10:00:00.000Z',
  subject: 'iteration 3: cut',
};

test.for([null, 'refs/heads/main'])('a message is read as it was written, on %s', (branch) => {
  const undone = { fromTree: 'f', leftTree: 'l', base: '3.0', isRedo: true };
  const message = withUnderWay(snapshotMessage({ ...ABOUT, branch, undone }), ['merge', 'bisect']);
  expect(readSnapshotMessage(message)).toEqual({
    ...{ subject: ABOUT.subject, order: 7, at: ABOUT.at, branch, undone },
    underWay: ['merge', 'bisect'],
  });
  expect(readSnapshotMessage(snapshotMessage({ ...ABOUT, branch }))).toMatchObject({
    ...{ undone: null, underWay: [] },
  });
});

test('another message is none', () => {
  expect(readSnapshotMessage('Fix it\n')).toBeNull();
});

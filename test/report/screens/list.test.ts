import { expect, test } from 'vitest';
import { listEventLine } from '../../../src/report/screens/list.ts';

test('an id with line breaks forges no line about another item', () => {
  const undone = { kind: 'nothing' } as const;
  const line = listEventLine(
    { kind: 'blocked', item: 'a\nb done: proven', taskId: 'prd.a', reason: 'stalled', undone },
    { source: 'prd.json', typed: 'prd.json', most: 3 },
  );
  expect(line).not.toContain('\n');
});

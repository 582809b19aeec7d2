import { expect, test } from 'vitest';
import { makeExam } from '../../helpers/exams.ts';

test('a file that is too large for a snapshot is there in the old exam', async () => {
  const exam = await makeExam({ 'check.sh': 'test -f large.bin\n' }, { checks: ['sh check.sh'] });
  const seen = await exam.judge({
    'check.sh': 'test -f large.bin # still\n',
    'large.bin': 'x'.repeat(1_000_001),
  });
  expect(seen).toMatchObject({ passes: true });
  expect(seen.bent).toHaveLength(1);
});

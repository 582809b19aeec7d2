import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

const ITERATIONS = 120;
const BYTES = 100_000;

test('120 iterations of 100 KB: the state stays within 50 KB, the logs hold every byte', async () => {
  const scene = await makeScene();
  // Near misses, so that each iteration has as much to be remembered as it can.
  const agent = await scene.write(
    'agent.sh',
    [
      'cat > /dev/null',
      'echo "$RALPH_ITERATION: I cannot say TASK_COMPLETE yet, since \u{1f600} \u00fc \u00fc \u00fc"',
      `head -c ${BYTES} /dev/zero | tr '\\0' x`,
      'echo complaint >&2',
      '[ "$RALPH_ITERATION" -lt 100 ] || exit 1',
    ].join('\n'),
  );
  const limits = ['-n', `${ITERATIONS}`, '--no-progress-limit', '0', '--same-error-limit', '0'];
  const { exitCode } = await scene.run([...limits, '--agent-command', `sh ${agent}`], {});
  expect(exitCode).toBe(3);
  expect(scene.state()).toMatchObject({ metrics: { iterations: ITERATIONS } });
  expect(statSync(join(scene.folder, '.ralph_state/t.json')).size).toBeLessThanOrEqual(50 * 1_024);
  for (let iteration = 1; iteration <= ITERATIONS; iteration += 1) {
    const name = `.ralph_state/t/iteration-${String(iteration).padStart(4, '0')}`;
    const first = `${iteration}: I cannot say TASK_COMPLETE yet, since \u{1f600} \u00fc \u00fc \u00fc\n`;
    expect(scene.read(`${name}.stdout.log`) === `${first}${'x'.repeat(BYTES)}`).toBe(true);
    expect(scene.read(`${name}.stderr.log`)).toBe('complaint\n');
  }
});

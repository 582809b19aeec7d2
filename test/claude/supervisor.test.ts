import { expect, test } from 'vitest';
import { text } from '../helpers/api-replies.ts';
import { bash, makeRealScene, WITH_BASH } from '../helpers/real-scene.ts';

test('a failing command, again and again, is told, then ends the iteration, and the next prompt names it', async () => {
  let calls = 0;
  const scene = await makeRealScene(({ raw }) => {
    calls += 1;
    if (raw.includes('repeated calls failed')) return text('All good.\n\nTASK_COMPLETE');
    return bash('ls /nowhere/at/all');
  });
  const end = await scene.run([...WITH_BASH, '--delay', '0', '--json']);
  expect(end).toMatchObject({ exitCode: 0 });
  const events = end.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.filter(({ event }) => event === 'supervisor')).toMatchObject([
    { sign: 'same-failing-call', action: 'told', count: 5, iteration: 1 },
    {
      sign: 'same-failing-call',
      action: 'cut',
      count: 20,
      detail: expect.stringContaining('Bash: ls /nowhere/at/all'),
    },
  ]);
  expect(scene.state().iterations).toMatchObject([
    { outcome: 'cut', cut_by: 'same-failing-call' },
    { outcome: 'answered' },
  ]);
  // The calls of the first iteration are bounded: what was under way when it was ended may be one more.
  expect(calls).toBeLessThan(26);
});

test('calls that nobody allows are counted as refused', async () => {
  const scene = await makeRealScene(({ raw }) =>
    raw.includes('were refused and none worked')
      ? text('I cannot do it.')
      : bash('touch forbidden'),
  );
  const end = await scene.run(['--delay', '0', '--json', '-n', '2']);
  const signs = end.stdout.match(/^.*"event":"supervisor".*$/gm)?.map((line) => JSON.parse(line));
  expect(signs).toMatchObject([
    { sign: 'refused', action: 'told', count: 5 },
    { sign: 'refused', action: 'cut', count: 20 },
  ]);
});

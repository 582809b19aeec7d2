import { join } from 'node:path';
import { expect, test } from 'vitest';
import { livingIn } from '../helpers/living-in.ts';
import { fixture } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';

// Whatever ralph itself gets wrong: no stack, no agent left behind, and state and note say so.

/** The environment in which something throws once the agent has made a file `now`. */
function throwing(folder: string, how: 'throw' | 'reject' = 'throw'): Record<string, string> {
  return {
    NODE_OPTIONS: `--require ${fixture('throws-later.cjs')}`,
    THROW_WHEN: join(folder, 'now'),
    THROW_HOW: how,
  };
}

test.for(['throw', 'reject'] as const)(
  'an error that nobody waits for (%s) ends the agent and the task, which can be gone on with',
  async (how) => {
    const scene = await makeScene([
      { text: 'Working.', shell: ': > now; sleep 60' },
      { text: 'Done.\n\nTASK_COMPLETE' },
    ]);
    const options = { env: throwing(scene.folder, how) };
    const end = await scene.run(['--on-end', 'cat > ended.json'], options);
    expect(end).toMatchObject({ exitCode: 70, stdout: '' });
    expect(end.stderr).toContain('this is a bug in ralph, please report it: too deep');
    expect(end.stderr).not.toMatch(/^ {4}at |RangeError/m);
    expect(livingIn(scene.folder)).toEqual([]);
    expect(scene.state()).toMatchObject({
      status: 'failed',
      exit_reason: 'failed:bug',
      driver: null,
    });
    expect(scene.notes()).toMatchObject([{ frontMatter: { type: 'ralph_failed' } }]);
    expect(scene.notes()[0]?.command).toContain('ralph resume t');
    expect(JSON.parse(scene.read('ended.json'))).toMatchObject({
      event: 'task_failed',
      exit_code: 70,
    });
    expect(scene.journal().filter(({ event }) => event === 'task_failed')).toHaveLength(1);
    const resumed = await scene.ralph(['resume', 't', '--delay', '0']);
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(scene.state().iterations).toHaveLength(1);
  },
);

test('where no task runs it is one sentence and exit code 70', async () => {
  const scene = await makeScene();
  await scene.write('now', '');
  const run = await scene.start(['watch', '--interval', '1h'], { env: throwing(scene.folder) });
  const end = await run.ended;
  expect(end).toMatchObject({ exitCode: 70 });
  expect(end.stderr).toContain('ralph: this is a bug in ralph, please report it: too deep\n');
  expect(end.stderr).not.toMatch(/^ {4}at /m);
});

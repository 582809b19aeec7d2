import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONDITIONS } from '../../src/core/completion/conditions/conditions.ts';
import { SETTINGS } from '../../src/core/settings/settings.ts';
import type { Evidence } from '../../src/core/task/task-state.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { makeScene } from '../helpers/scene.ts';

// What holds for every completion condition. A condition that is not in this table fails the first test.

interface Example {
  readonly flags: readonly string[];
  /** What the agent does to make it hold. */
  readonly done: Turn;
  /** What `ralph status` says of it. */
  readonly shown: string;
}

const EXAMPLES: Readonly<Record<Evidence['kind'], Example>> = {
  promise: {
    flags: ['--promise', 'ALL GREEN'],
    done: { text: 'Done.\n\nALL GREEN' },
    shown: 'done when the agent states ALL GREEN',
  },
  'file-moved': {
    flags: ['--watch-file', 'task.md'],
    done: { text: 'Moved.', shell: 'mkdir -p Done && mv task.md Done/' },
    shown: "'task.md' has been moved to",
  },
  'watch-glob': {
    flags: ['--watch-glob', 'out/*.md'],
    done: { text: 'Written.', shell: 'mkdir -p out && echo new > out/a.md' },
    shown: "a new or changed file matches 'out/*.md'",
  },
  until: {
    flags: ['--until', 'test -e proof'],
    done: { text: 'Made.', shell: 'touch proof' },
    shown: "done when the command 'test -e proof' succeeds",
  },
  'plan-file': {
    flags: ['--plan-file', 'plan.md'],
    done: { text: 'Ticked.', shell: 'echo "- [x] all" > plan.md' },
    shown: "done when every box in 'plan.md' is ticked",
  },
  signal: {
    flags: ['--signal', 'NOTHING LEFT'],
    done: { text: 'Looked.\n\nNOTHING LEFT' },
    shown: "done when the agent states 'NOTHING LEFT' in two iterations in a row",
  },
};
const ROWS = Object.entries(EXAMPLES);

test('every condition has an example here', () => {
  expect(CONDITIONS.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(EXAMPLES).toSorted());
});

test('every condition has a flag that README.md and docs/completion.md name', () => {
  for (const name of ['README.md', 'docs/completion.md']) {
    const text = readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
    const flags = ROWS.map(
      ([
        ,
        {
          flags: [flag = ''],
        },
      ]) => flag,
    );
    expect(flags.filter((flag) => !text.includes(flag))).toEqual([]);
  }
});

test('only a trusted configuration may set what a condition runs', () => {
  const settings = CONDITIONS.filter(({ command }) => command !== undefined).flatMap(
    (condition) => condition.settings,
  );
  expect(settings.length).toBeGreaterThan(0);
  expect(settings.filter((name) => SETTINGS[name].trust !== true)).toEqual([]);
});

describe('a task with a condition of its own', () => {
  test.for(ROWS)('%s: does not end at the default promise', async ([, { flags }]) => {
    const scene = await makeScene({ text: 'All is well.\n\n<promise>TASK_COMPLETE</promise>' });
    await scene.write('task.md', 'Do it.');
    await scene.write('plan.md', '- [ ] all\n');
    const { exitCode } = await scene.run([...flags, '-n', '1']);
    expect(exitCode).toBe(3);
    expect(scene.state()).toMatchObject({
      completion_promise: flags[0] === '--promise' ? 'ALL GREEN' : null,
    });
  });

  test.for(ROWS)(
    '%s: keeps it over a resume, shows it, and shows by what it was completed',
    async ([kind, { flags, done, shown }]) => {
      const scene = await makeScene([{ text: 'TASK_COMPLETE\n\nStill at it.' }, done, done]);
      await scene.write('task.md', 'Do it.');
      await scene.write('plan.md', '- [ ] all\n');
      expect(await scene.run([...flags, '-n', '1'])).toMatchObject({ exitCode: 3 });
      const statusText = async () =>
        (await scene.ralph(['status', 't'])).stdout.replace(/\s+/g, ' ');
      expect(await statusText()).toContain(shown);
      const resumed = await scene.ralph(['resume', 't', '--max-iterations', '+3', '--delay', '0']);
      expect(resumed).toMatchObject({ exitCode: 0 });
      const { evidence } = scene.state();
      expect(evidence.kind).toBe(kind);
      expect(await statusText()).toContain(shown);
      expect(await statusText()).toContain(evidence.detail);
    },
  );

  test.for(ROWS)(
    '%s: is no flag of a rescue, whose only promise is its own',
    async ([, { flags }]) => {
      const scene = await makeScene();
      const rescue = await scene.ralph(['rescue', ...flags]);
      expect(rescue).toMatchObject({ exitCode: 2, stdout: '' });
      expect(rescue.stderr).toContain(flags[0]);
    },
  );
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stubProblems } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { until } from '../helpers/processes.ts';

// A task that goes on at another path on another host is judged as if it had stayed where it was.

const makeScene = useFleetSite(2);

interface Story {
  /** In the words of a batch, and as flags. */
  readonly keys: Readonly<Record<string, unknown>>;
  readonly flags: readonly string[];
  /** What the agent does in its second iteration. */
  readonly act: string;
  readonly text?: string;
}

const NOTHING = ':';
const CLAIM = 'Done.\\n\\n<promise>TASK_COMPLETE</promise>';
const READS = { keys: { watch_glob: 'READ*' }, flags: ['--watch-glob', 'READ*'] };
const KEPT = { keys: { protect: 'README.md' }, flags: ['--protect', 'README.md'] };
const STORIES: Readonly<Record<string, Story>> = {
  'glob-old': { ...READS, act: NOTHING },
  'glob-changed': { ...READS, act: 'echo more >>README.md' },
  'glob-new': {
    ...{ keys: { watch_glob: 'out/*.md' }, flags: ['--watch-glob', 'out/*.md'] },
    act: 'mkdir -p out; echo new >out/a.md',
  },
  'file-moved': {
    ...{ keys: { watch_file: 'task.md' }, flags: ['--watch-file', 'task.md'] },
    act: 'mkdir -p Done; mv task.md Done/',
  },
  'plan-ticked': {
    ...{ keys: { plan_file: 'plan.md' }, flags: ['--plan-file', 'plan.md'] },
    act: 'echo "- [x] all" >plan.md',
  },
  'protected-untouched': { ...KEPT, act: NOTHING, text: CLAIM },
  'protected-touched': { ...KEPT, act: 'echo more >>README.md', text: CLAIM },
};
const NAMES = Object.keys(STORIES);
const FILES = { 'README.md': 'a\n', 'task.md': 'do it\n', 'plan.md': '- [ ] all\n' };
const MOST = 3;

test('the verdicts after a takeover are those of a task that stayed on its host', {
  timeout: 300_000,
}, async () => {
  const scene = await makeScene({ files: FILES });
  const go = join(scene.folder, 'go');
  for (const [name, { act, text }] of Object.entries(STORIES)) {
    const turn = {
      ...{ seconds: 0, iterations: 99 },
      // The first agent of the second iteration waits to be killed.
      before: `if [ "$RALPH_ITERATION" = 2 ]; then [ -e ${go} ] || sleep 120; ${act}; fi`,
      // No line of work but in the first iteration.
      after: '[ "$RALPH_ITERATION" = 1 ] || sed -i \'$d\' work.txt',
    };
    const says = `if [ "$RALPH_ITERATION" = 2 ]; then text='${text ?? ''}'; fi`;
    const settings = text === undefined ? turn : { ...turn, after: `${turn.after}; ${says}` };
    for (const id of [name, `${name}-here`]) scene.stub.does(settings, id);
  }
  await scene.submit(
    NAMES.map((name) => ({ task_id: name, max_iterations: MOST, ...STORIES[name]?.keys })),
  );
  const slots = ['--slots', String(NAMES.length)];
  const lost = await scene.startWorker(scene.host(1), slots);
  const isSecond = (name: string): boolean =>
    scene.stub
      .notes()
      .some(({ task, iteration, kind }) => task === name && iteration === 2 && kind === 'START');
  await until(
    () => NAMES.every(isSecond),
    () => `the second iterations; ${lost.said()}`,
    90_000,
  );
  scene.host(1).signalAll('SIGKILL');
  writeFileSync(go, '');
  await scene.startWorker(scene.host(2), slots);
  await untilNoted(scene, ({ host }) => host === scene.host(2).name);

  const here: Record<string, unknown> = {};
  for (const [name, { flags }] of Object.entries(STORIES)) {
    const folder = join(scene.folder, name);
    mkdirSync(folder);
    execFileSync('git', ['clone', '-q', scene.origin.folder, folder]);
    const id = `${name}-here`;
    const most = ['--max-iterations', String(MOST)];
    const args = ['run', '--prompt', 'Do the work.', '--task-id', id, '--delay', '0', ...most];
    const end = await scene.ralph([...args, ...flags], { cwd: folder });
    here[name] = [end.exitCode, scene.stub.prompt(id, 2) !== ''];
  }
  const tasks = await scene.untilEmpty(120_000);
  const there = Object.fromEntries(
    tasks.map(({ spec, exit_code }) => [spec.task_id, [exit_code, true]]),
  );
  expect(there).toEqual(here);
  // So that the stories do not all end in the same way.
  expect(here).toMatchObject({
    'glob-old': [3, true],
    'glob-new': [0, true],
    'file-moved': [0, true],
    'protected-untouched': [0, true],
  });
  expect(stubProblems(scene.stub.notes().filter(({ task }) => !task.endsWith('-here')))).toEqual(
    [],
  );
});

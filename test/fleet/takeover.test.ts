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
  /** What the agent does in its first iteration, and what in its second one. */
  readonly first?: string;
  readonly act: string;
  readonly text?: string;
  /** The most iterations; default: 3. */
  readonly most?: number;
  /**
   * Whether the task that stays is killed and resumed in its second iteration: a first look after that which finds
   * nothing new does not count as one without progress.
   */
  readonly isKilledHere?: boolean;
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
  'check-gutted': {
    ...{ keys: { verify: 'sh check.sh' }, flags: ['--verify', 'sh check.sh'], text: CLAIM },
    ...{ first: 'echo true >check.sh', act: NOTHING },
  },
  stalled: {
    ...{ keys: { no_progress_limit: 2 }, flags: ['--no-progress-limit', '2'], most: 7 },
    ...{ act: NOTHING, isKilledHere: true },
  },
};
const NAMES = Object.keys(STORIES);
const FILES = {
  'check.sh': 'grep -q fixed README.md\n',
  'README.md': 'a\n',
  'task.md': 'do it\n',
  'plan.md': '- [ ] all\n',
};
const MOST = 3;

const JUDGED = ['event', 'status', 'exit_reason', 'exit_code', 'iterations_used', 'evidence'];

/** What the last event says of the end of a task, as if its work tree were `/`. */
function verdict(
  events: readonly object[],
  tree: string | RegExp,
): Readonly<Record<string, unknown>> {
  const end = events.findLast((event) => 'exit_reason' in event) ?? {};
  const said = Object.entries(end).filter(([name]) => JUDGED.includes(name));
  return JSON.parse(JSON.stringify(Object.fromEntries(said)).replaceAll(tree, ''));
}

test('the verdicts after a takeover are those of a task that stayed on its host', async () => {
  const scene = await makeScene({ files: FILES });
  const go = join(scene.folder, 'go');
  for (const [name, { first = NOTHING, act, text, isKilledHere = false }] of Object.entries(
    STORIES,
  )) {
    const turn = {
      ...{ seconds: 0, iterations: 99 },
      // The first agent of the second iteration waits to be killed.
      before: `if [ "$RALPH_ITERATION" = 2 ]; then [ -e ${go} ] || sleep 600; ${act}; else ${first}; fi`,
      // No line of work but in the first iteration.
      after: '[ "$RALPH_ITERATION" = 1 ] || sed -i \'$d\' work.txt',
    };
    const says = `if [ "$RALPH_ITERATION" = 2 ]; then text='${text ?? ''}'; fi`;
    const settings = text === undefined ? turn : { ...turn, after: `${turn.after}; ${says}` };
    scene.stub.does(settings, name);
    const dies = `[ "$RALPH_ITERATION" != 2 ] || ! mkdir ${go}.here || kill -9 "$PPID"`;
    const before = isKilledHere ? `${dies}; ${turn.before}` : turn.before;
    scene.stub.does({ ...settings, before }, `${name}-here`);
  }
  await scene.submit(
    Object.entries(STORIES).map(([name, { keys, most = MOST }]) => ({
      ...{ task_id: name, max_iterations: most, ...keys },
    })),
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
  );
  scene.host(1).signalAll('SIGKILL');
  writeFileSync(go, '');
  await scene.startWorker(scene.host(2), slots);
  await untilNoted(scene, ({ host }) => host === scene.host(2).name);

  const here: Record<string, unknown> = {};
  for (const [name, { flags, most = MOST, isKilledHere = false }] of Object.entries(STORIES)) {
    const folder = join(scene.folder, name);
    mkdirSync(folder);
    execFileSync('git', ['clone', '-q', scene.origin.folder, folder]);
    const id = `${name}-here`;
    const args = ['run', '--prompt', 'Do the work.', '--task-id', id, '--delay', '0', '--json'];
    const run = [...args, '--max-iterations', String(most), ...flags];
    const ends = [await scene.ralph(run, { cwd: folder })];
    if (isKilledHere) {
      expect(ends[0]?.signal).toBe('SIGKILL');
      const resume = ['resume', id, '--vault', folder, '--json'];
      ends.push(await scene.ralph(resume, { cwd: folder }));
    }
    const lines = ends.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean));
    here[name] = verdict(
      lines.map((line) => JSON.parse(line)),
      folder,
    );
  }
  await scene.untilEmpty();
  const there: Record<string, unknown> = {};
  for (const name of NAMES) {
    const events = (await scene.queue.events(name, 0)).map(({ event }) => event);
    // A busy machine may lose the claim once more, so the number of the claim is not known.
    there[name] = verdict(events, /(?<=")[^"]*\/ralph-worker\/legs\/[^/"]+\.\d+\/tree/g);
  }
  expect(there).toEqual(here);
  // So that the stories do not all end in the same way.
  expect(here).toMatchObject({
    'glob-old': { exit_code: 3, evidence: null },
    'glob-new': { exit_code: 0, evidence: { kind: 'watch-glob' } },
    'file-moved': { exit_code: 0, evidence: { kind: 'file-moved' } },
    'check-gutted': { exit_code: 0, evidence: { proof: { proven: false } } },
    'protected-untouched': { exit_code: 0, evidence: { kind: 'promise' } },
    stalled: { status: 'stalled', exit_reason: 'no-progress', iterations_used: 4 },
  });
  expect(stubProblems(scene.stub.notes().filter(({ task }) => !task.endsWith('-here')))).toEqual(
    [],
  );
});

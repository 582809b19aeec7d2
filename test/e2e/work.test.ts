import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFakeJudge, verdict } from '../helpers/fake-judge.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { jsonLines, makeScene, type Scene } from '../helpers/scene.ts';

const PROMISE = '<promise>TASK_COMPLETE</promise>';
/** The agent writes the file that the item asks for. */
const WORKS: Turn = { shell: worksOn(''), text: `It is there.\n\n${PROMISE}` };

/** Shell that finds out by the prompt which item it is, and runs `more` before it writes the item's file. */
function worksOn(more: string): string {
  return `id=$(printf '%s' "$RALPH_TASK_ID" | sed 's/^[^.]*[.]//'); ${more}\n echo "$id" > "work-$id"`;
}

const item = (id: string, more: object = {}) => ({
  id,
  title: `Item ${id}`,
  passes: false,
  ...more,
});
const listText = (items: readonly object[]): string =>
  `{\n  "userStories": [\n${items.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]\n}\n`;

const FOUR = listText([item('a'), item('b'), item('c'), item('d', { dependsOn: ['b'] })]);
/** Fails as long as there is the file of item b. */
const CHECK = 'test ! -e work-b && test -e work-a';

async function sceneWith(turns: Turn | readonly Turn[], list = FOUR): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('prd.json', list);
  await scene.write('.gitignore', '.ralph_state/\nNeeds_Action/\n');
  scene.makeRepository();
  return scene;
}

const FLAGS = ['--verify', CHECK, '--delay', '0', '--max-iterations', '1', '--no-baseline'];
const work = (scene: Scene, more: readonly string[] = [], list = 'prd.json') =>
  scene.ralph(['work', list, ...FLAGS, ...more]);
const passed = (scene: Scene): readonly string[] =>
  JSON.parse(scene.read('prd.json')).userStories.flatMap((each: { id: string; passes: boolean }) =>
    each.passes ? [each.id] : [],
  );
const git = (scene: Scene, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: scene.folder, env: scene.env, encoding: 'utf8' });

/** Waits until an agent has written a file. */
async function untilThere(scene: Scene, file: string): Promise<void> {
  await expect.poll(() => scene.has(file), { timeout: PATIENCE_MS }).toBe(true);
}

describe('ralph work', () => {
  test('of four items one fails: the others are done, and its changes are gone', async () => {
    const scene = await sceneWith(WORKS);
    const first = await work(scene);
    expect(first.stdout.split('\n')).toEqual([
      expect.stringMatching(/^a done: /),
      expect.stringMatching(
        /^b blocked: max_iterations; its changes were taken back; to try it again: ralph work /,
      ),
      expect.stringMatching(/^c done: /),
      '',
    ]);
    expect(first.exitCode).toBe(5);
    expect(scene.has('work-b')).toBe(false);
    expect(scene.read('prd.json')).toBe(
      FOUR.replace('"Item a","passes":false', '"Item a","passes":true').replace(
        '"Item c","passes":false',
        '"Item c","passes":true',
      ),
    );
    const [note] = scene.notes().filter(({ name }) => name.startsWith('RALPH_LIST_prd_'));
    expect(note?.text).toContain('**b** (Item b) is blocked: max\\_iterations');
    expect(note?.text).toContain('**d** (Item d) waits for b');
    expect(note?.command).toBe(`cd ${scene.folder} && ralph work prd.json --again b`);
    expect((await scene.ralph(['status'])).stdout).toContain(
      'prd.json  2/4 done, 1 blocked, 1 waiting\n',
    );

    const second = await work(scene);
    expect([second.exitCode, second.stdout]).toEqual([5, '']);
    expect(scene.fake.calls()).toHaveLength(3);
    // That b is blocked is still to be read.
    expect((await work(scene, ['--item', 'c'])).exitCode).toBe(0);
    expect(scene.notes().some(({ name }) => name.startsWith('RALPH_LIST_'))).toBe(true);

    const again = await scene.ralph([
      'work',
      'prd.json',
      '--verify',
      'test -e work-a',
      '--delay',
      '0',
      '--again',
      'b',
    ]);
    expect(again.stdout).toMatch(/^b done: .*\nd done: .*\n$/);
    expect(again.exitCode).toBe(0);
    expect(passed(scene)).toEqual(['a', 'b', 'c', 'd']);
    expect(scene.notes().filter(({ name }) => name.startsWith('RALPH_LIST_'))).toEqual([]);
  });

  test.for<[name: string, shell: string, said: RegExp]>([
    ['ticks every item', "sed -i 's/false/true/' prd.json", /changed done fields of prd\.json/],
    [
      'deletes an item',
      "sed -i '/Item c/d' prd.json",
      /the item c is gone\), so it was put back; .*list-prd\.json/,
    ],
    ['rewrites an item', "sed -i 's/Item c/Nothing/' prd.json", /the item c was rewritten/],
    ['breaks the file', 'echo { > prd.json', /prd\.json expects JSON/],
    ['replaces it by a link', 'mv prd.json x; ln -s x prd.json', /it is a link/],
    ['removes it', 'rm prd.json', /there is no such file/],
    [
      'makes it too large',
      'head -c 2000000 /dev/zero >> prd.json',
      /more than 1 MB\), so it was put back; what it left is in .*\/list-prd\.json/,
    ],
    [
      'puts a folder in its place',
      'rm prd.json; mkdir prd.json; touch prd.json/x',
      /it is no file\), so it was put back; what it left is in .*\/list-prd\.json/,
    ],
  ])('an agent that %s changes nothing about what is done', async ([, shell, said]) => {
    const scene = await sceneWith({ ...WORKS, shell: worksOn(shell) });
    const { exitCode, stdout, stderr } = await work(scene);
    expect(stdout).toMatch(/^a done: .*\nb blocked: .*\nc done: .*\n$/);
    expect(exitCode).toBe(5);
    expect(passed(scene)).toEqual(['a', 'c']);
    expect(git(scene, 'diff', '--stat')).toMatch(/2 insertions\(\+\), 2 deletions\(-\)/);
    expect(stderr).toMatch(said);
  });

  test('notes and new items of an agent stay, and new ones are left to the next run', async () => {
    const shell = 'sed -i \'s/^  ]/  ,{"id":"new-'.concat(
      '\'"$id"\'","title":"New","passes":true}]/; s/"title":"Item a"/"title":"Item a","notes":"x"/\' prd.json',
    );
    const scene = await sceneWith(
      { ...WORKS, shell: worksOn(`[ $id != a ] || ${shell}`) },
      listText([item('a'), item('c')]),
    );
    const { exitCode, stdout, stderr } = await work(scene);
    expect(stdout).toMatch(/^a done: .*\nc done: .*\n$/);
    expect([exitCode, passed(scene)]).toEqual([0, ['a', 'c']]);
    expect(scene.read('prd.json')).toContain('"notes":"x"');
    expect(scene.read('prd.json')).toContain('"new-a","title":"New","passes":false');
    expect(stderr).toMatch(/2\/2 done, .*1 added meanwhile/);
  });

  test('an agent that only ticks ends unproven, and the list is as before', async () => {
    const ticks = {
      shell: "sed -i 's/false/true/' prd.json",
      text: PROMISE,
      tools: [{ name: 'Bash' }],
    };
    const scene = await sceneWith(ticks, listText([item('a')]));
    const flags = ['--verify', 'true', '--delay', '0', '--no-baseline'];
    const { exitCode, stdout, stderr } = await scene.ralph(['work', 'prd.json', ...flags]);
    expect(stdout).toMatch(/^a blocked: unproven; .*to try it again: /);
    expect(exitCode).toBe(5);
    expect(scene.read('prd.json')).toBe(listText([item('a')]));
    expect(stderr).toContain('nothing was changed but the list');
  });

  test('what checks do not prove is ticked by hold, and not by strict', async () => {
    const list = listText([item('a')]);
    const flags = ['--verify', 'true', '--delay', '0'];
    const hold = await sceneWith(WORKS, list);
    expect((await hold.ralph(['work', 'prd.json', ...flags])).stdout).toMatch(
      /^a done: not proven: /,
    );
    expect(passed(hold)).toEqual(['a']);
    const strict = await sceneWith(WORKS, list);
    const end = await strict.ralph(['work', 'prd.json', ...flags, '--proof', 'strict']);
    expect([end.exitCode, passed(strict)]).toEqual([5, []]);
  });

  test('commands of items run only with --item-checks, and an item without a check does not start', async () => {
    const list = listText([item('a', { verify: ['touch ran', 'Manual: look at it'] }), item('c')]);
    const scene = await sceneWith(WORKS, list);
    const none = await scene.ralph(['work', 'prd.json']);
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringMatching(/these have none: a, c\./),
    ]);
    const some = await scene.ralph(['work', 'prd.json', '--item-checks']);
    expect(some.stderr).toMatch(/these have none: c\./);
    const dry = await scene.ralph(['work', 'prd.json', '--dry-run', '--json', '--verify', 'true']);
    expect(JSON.parse(dry.stdout).items[0].checks).toEqual([
      { command: 'true', run: true },
      { command: 'touch ran', run: false },
    ]);
    await scene.ralph(['work', 'prd.json', '--verify', 'true', '--delay', '0', '--item', 'c']);
    expect(scene.has('ran')).toBe(false);
    expect(scene.fake.calls()).toHaveLength(1);
    const edit = ['--item', 'a', '--item-checks', '--edit', '--delay', '0'];
    const own = await scene.ralph(['work', 'prd.json', ...edit]);
    expect([own.exitCode, scene.has('ran')]).toEqual([0, true]);
    // Whoever wrote the list gives the agent no permission.
    expect(scene.fake.calls()[1]?.argv.join(' ')).not.toContain('touch');
  });

  test('--commit commits the work of items as that of any task, and leaves the ticks uncommitted', async () => {
    const scene = await sceneWith({ ...WORKS, shell: worksOn("sed -i 's/false/true/' prd.json") });
    const { exitCode, stderr } = await work(scene, ['--commit']);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('the ticks in prd.json are not committed');
    expect(
      git(scene, 'log', '--format=%s', '--name-only', '-2', 'HEAD').trim().split(/\n+/),
    ).toEqual([...[expect.any(String), 'work-c'], ...[expect.any(String), 'work-a']]);
    expect(git(scene, 'branch', '--show-current')).toBe('ralph/prd.a\n');
    expect(git(scene, 'status', '--short')).toBe(' M prd.json\n');
    expect(passed(scene)).toEqual(['a', 'c']);
  });

  test('a stopped item goes on, and one that is killed after its end is ticked without an agent', async () => {
    const scene = await sceneWith(
      [{ hangs: true }, WORKS, WORKS],
      listText([item('a'), item('c')]),
    );
    const first = await scene.start(['work', 'prd.json', ...FLAGS, '--max-iterations', '3']);
    await scene.fake.untilCalls(1);
    const other = await work(scene);
    expect([other.exitCode, other.stderr]).toEqual([
      7,
      expect.stringMatching(/another ralph work/),
    ]);
    process.kill(first.pid, 'SIGINT');
    expect((await first.ended).exitCode).toBe(130);
    expect(passed(scene)).toEqual([]);
    expect((await scene.ralph(['status'])).stdout).toContain('prd.json  0/2 done, working on a');

    const working = scene.read('.ralph_state/lists/prd.json');
    const second = await work(scene);
    expect(second.stdout).toMatch(/^a done: .*\nc done: .*\n$/);
    expect(second.exitCode).toBe(0);

    // As a kill leaves it between the end of the task and the tick.
    await scene.write('prd.json', listText([item('a'), item('c')]));
    await scene.write('.ralph_state/lists/prd.json', working);
    const third = await work(scene, ['--item', 'a']);
    expect(third.stdout).toMatch(/^a done: /);
    expect(passed(scene)).toEqual(['a']);
    expect(scene.fake.calls()).toHaveLength(3);
  });

  test('the commit of a person between two runs stays on the branch when the item fails', async () => {
    const writes = { shell: 'echo new > made' };
    const scene = await sceneWith([{ ...writes, hangs: true }, writes], listText([item('b')]));
    const first = await scene.start(['work', 'prd.json', ...FLAGS]);
    await untilThere(scene, 'made');
    process.kill(first.pid, 'SIGINT');
    await first.ended;
    await scene.write('mine', 'mine\n');
    git(scene, 'add', 'mine');
    git(scene, '-c', 'user.name=p', '-c', 'user.email=p@localhost', 'commit', '-qm', 'mine');
    const head = git(scene, 'rev-parse', 'HEAD');
    const second = await work(scene);
    expect(second.stdout).toMatch(
      /^b blocked: .*\(HEAD stays: somebody else has committed since\)/,
    );
    expect([git(scene, 'rev-parse', 'HEAD'), scene.has('made')]).toEqual([head, false]);
    expect(git(scene, 'status', '--short')).toBe('');
  });

  test('a list that an agent broke before everything was killed is put back by the next run', async () => {
    const breaks: Turn = { shell: 'echo { > prd.json; echo new > made', hangs: true };
    const scene = await sceneWith([breaks, WORKS, WORKS], listText([item('a'), item('c')]));
    const first = await scene.start(['work', 'prd.json', ...FLAGS, '--max-iterations', '3']);
    await untilThere(scene, 'made');
    process.kill(first.pid, 'SIGKILL');
    await first.ended;
    // As if the kill had come while the list was written.
    await scene.write('prd.json.4711-0000002a.tmp', '[');
    await scene.write('prd.json.tmp', 'a person has made it');
    const second = await work(scene);
    expect(second.stdout).toMatch(/^a done: .*\nc done: .*\n$/);
    expect([second.exitCode, passed(scene)]).toEqual([0, ['a', 'c']]);
    expect(second.stderr).toMatch(/prd\.json expects JSON; .* so it was put back/);
    expect([scene.has('prd.json.4711-0000002a.tmp'), scene.has('prd.json.tmp')]).toEqual([
      false,
      true,
    ]);
  });

  test('what an agent ticked before a stop is put back, and what a person writes after it stays', async () => {
    const ticks: Turn = { shell: "sed -i 's/false/true/' prd.json; echo new > made", hangs: true };
    const scene = await sceneWith([ticks, WORKS, WORKS], listText([item('a'), item('c')]));
    const first = await scene.start(['work', 'prd.json', ...FLAGS, '--max-iterations', '3']);
    await untilThere(scene, 'made');
    process.kill(first.pid, 'SIGINT');
    await first.ended;
    expect(scene.read('prd.json')).toBe(listText([item('a'), item('c')]));
    await scene.write('prd.json', listText([item('a'), item('e')]));
    const second = await work(scene);
    expect(second.stdout).toMatch(/^a done: .*\ne done: .*\n$/);
    expect(passed(scene)).toEqual(['a', 'e']);
  });

  test('a state that somebody else wrote is refused, and so is a start inside a loop', async () => {
    const scene = await sceneWith(WORKS, listText([item('a')]));
    await scene.write(
      '.ralph_state/lists/prd.json',
      '{"schema_version":1,"items":[],"before":null}\n',
    );
    const forged = await work(scene);
    expect([forged.exitCode, forged.stderr]).toEqual([
      2,
      expect.stringMatching(/not as your ralph wrote it/),
    ]);
    const inside = await scene.ralph(['work', 'prd.json'], { env: { RALPH_RUN_ID: '1' } });
    expect([inside.exitCode, inside.stderr]).toEqual([2, expect.stringMatching(/inside a loop/)]);
  });

  test('a list whose name in ids of tasks another one has is refused, until that one is gone', async () => {
    const scene = await sceneWith(WORKS, listText([item('a')]));
    expect((await work(scene)).exitCode).toBe(0);
    await scene.write('prd.md', '- [ ] T1 one\n');
    const refused = await work(scene, [], 'prd.md');
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/prd\.json has the name 'prd' in ids of tasks already/),
    ]);
    git(scene, 'rm', '-q', '--cached', 'prd.json');
    rmSync(path.join(scene.folder, 'prd.json'));
    expect((await work(scene, [], 'prd.md')).stdout).toMatch(/^T1 done: /);
  });

  test('what would meet every item ends the list, and the item goes on later', async () => {
    const away: Turn = {
      isError: true,
      text: 'Not logged in · Please run /login',
      numTurns: 1,
      costUsd: 0,
    };
    const scene = await sceneWith([away, WORKS, WORKS], listText([item('a'), item('c')]));
    const first = await work(scene);
    expect([first.exitCode, first.stdout, passed(scene)]).toEqual([1, '', []]);
    const second = await work(scene, ['--json']);
    expect(second.exitCode).toBe(0);
    const events = jsonLines(second.stdout).map(({ event }) => event);
    expect(events.filter((each) => /^(?:item|list)_/.test(each))).toEqual([
      ...['item_done', 'item_done', 'list_ended'],
    ]);
  });

  test.for<[words: readonly string[], problem: RegExp]>([
    [['work'], /ralph work expects a list, such as/],
    [['work', 'none.json'], /none\.json cannot be used: there is no such file/],
    [['work', 'prd.json', '--worktree', '--base', 'main'], /takes no --base/],
    [['work', 'prd.json', '--item', 'aa'], /has no 'aa'; did you mean a\?/],
    [
      ['work', 'prd.json', '--agian', 'a'],
      /--agian is not a flag of ralph work; did you mean --again\?/,
    ],
    [['run', 'prd.json'], /to work through it as a list: ralph work prd\.json/],
    [['run', '--prd', 'prd.json'], /ralph work LIST works through a list/],
    [['run', '--list', 'prd.json'], /ralph work LIST works through a list/],
    [['worker', 'prd.json'], /to work through a list of tasks: ralph work prd\.json/],
  ])('%s is refused', async ([words, problem]) => {
    const scene = await sceneWith(WORKS);
    const { exitCode, stderr } = await scene.ralph(words);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)]);
    expect(scene.has('.ralph_state')).toBe(false);
  });
});

describe('with a judge', () => {
  test('each item is judged by its own criteria, and only the one that is not met is held', async () => {
    const list = listText([
      item('a', { acceptanceCriteria: ['there is work-a', { title: 'it is not empty' }] }),
      item('b', { steps: ['there is work-b'] }),
    ]);
    const scene = await sceneWith(WORKS, list);
    const at = (file: string) => [{ file, line: 1 }];
    const judge = makeFakeJudge(scene, [
      verdict({ c1: 'met', c2: 'met' }, at('work-a')),
      verdict({ c1: 'not-met' }, at('work-b')),
    ]);
    const flags = ['--verify', 'test -e work-a', '--delay', '0', '-n', '1', ...judge.args];
    const { exitCode, stdout } = await scene.ralph(['work', 'prd.json', ...flags]);
    expect(exitCode).toBe(5);
    expect(stdout).toMatch(/^a done: .*judged by command: 2 of 2 met/);
    expect(passed(scene)).toEqual(['a']);
    const [first = '', second = ''] = judge.prompts();
    expect(first).toContain('c1: there is work-a\nc2: it is not empty');
    expect(second).toContain('c1: there is work-b');
    expect(second).not.toContain('c2: ');
  });
});

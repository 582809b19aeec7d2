import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { jsonLines, makeScene, type Scene } from '../helpers/scene.ts';

const PROMISE = '<promise>TASK_COMPLETE</promise>';
const ID = `id=$(printf '%s' "$RALPH_TASK_ID" | sed 's/^[^.]*[.]//')`;

/** Waits until so many items are at work. */
const together = (count: number): string =>
  `touch "$HOME/begun-$id"; until [ $(ls "$HOME" | grep -c ^begun-) -ge ${count} ]; do sleep 0.05; done`;

/** What the agent does when its work has come back: it merges the branch, and keeps the lines of scene. */
const MERGES = `git add -A; git commit -qm "$id"
  git merge -q ralph/prd || { git show ralph/prd:notes.txt > notes.txt; echo "$id" >> notes.txt; git add -A; git commit -qm "merge $id"; }`;

/** An agent that writes its item into the same line as the others. */
function writer(count: number, again = MERGES): Turn {
  const first = `${together(count)}\n  echo "$id" > notes.txt; echo "$id" > "work-$id"; sed -i 's/false/true/' prd.json`;
  return {
    shell: `${ID}\nif [ -e "work-$id" ]; then ${again}\nelse ${first}\nfi`,
    text: `It is there.\n\n${PROMISE}`,
  };
}

/** Notes for which task it runs, and what it sees. */
const CHECK =
  'echo "$RALPH_TASK_ID: $(sort notes.txt | tr "\\n" " ")" >> "$HOME/checks"; test -s notes.txt';

const listText = (ids: readonly string[], more: object = {}): string => {
  const items = ids.map((id) =>
    JSON.stringify({ id, title: `Item ${id}`, passes: false, ...more }),
  );
  return `{\n  "userStories": [\n    ${items.join(',\n    ')}\n  ]\n}\n`;
};

async function sceneWith(
  turns: Turn | readonly Turn[],
  list = listText(['a', 'b', 'c']),
): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('prd.json', list);
  await scene.write('notes.txt', '');
  await scene.write('.gitignore', '.ralph_state/\nNeeds_Action/\n');
  scene.makeRepository();
  git(scene, 'config', 'user.name', 'Ada');
  git(scene, 'config', 'user.email', 'ada@example.com');
  return scene;
}

const git = (scene: Scene, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: scene.folder, env: scene.env, encoding: 'utf8' });
const FLAGS = ['--worktree', '--delay', '0', '--no-baseline', '--max-iterations', '9'];
const work = (scene: Scene, more: readonly string[] = [], check = CHECK) =>
  scene.ralph(['work', 'prd.json', '--verify', check, ...FLAGS, ...more]);
const passed = (scene: Scene): readonly string[] =>
  JSON.parse(scene.read('prd.json')).userStories.flatMap((each: { id: string; passes: boolean }) =>
    each.passes ? [each.id] : [],
  );
const linesOf = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];

describe('ralph work --worktree', () => {
  test('three items at once that change the same line all land, each checked after its merge', async () => {
    const scene = await sceneWith(writer(3));
    const main = git(scene, 'rev-parse', 'master');
    const { exitCode, stdout, stderr } = await work(scene, ['--concurrency', '3']);
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stderr).toContain('master is protected, so items land on the new branch ralph/prd');
    expect(stderr).toMatch(
      /ralph\/prd has changed the same lines of notes\.txt\..* \(1 of 3 times\)/,
    );
    const done = stdout.trimEnd().split('\n');
    expect(done.map((line) => line.slice(0, 7)).sort()).toEqual(['a done:', 'b done:', 'c done:']);
    for (const line of done) expect(line).toMatch(/; landed on ralph\/prd as [0-9a-f]{12}$/);
    expect(passed(scene)).toEqual(['a', 'b', 'c']);
    expect(stderr).toContain('the ticks in prd.json are not committed');

    // Nothing of the person's has moved but the ticks, and no landing holds one.
    expect([git(scene, 'rev-parse', 'master'), git(scene, 'status', '--short')]).toEqual([
      main,
      ' M prd.json\n',
    ]);
    expect(git(scene, 'log', '--format=%H', 'master..ralph/prd').trim().split('\n')).toHaveLength(
      3,
    );
    expect(git(scene, 'diff', '--stat', 'master', 'ralph/prd', '--', 'prd.json')).toBe('');
    expect(git(scene, 'show', 'ralph/prd:notes.txt').trim().split('\n').sort()).toEqual([
      'a',
      'b',
      'c',
    ]);

    // The last check of each item saw what had landed before.
    const checks = linesOf(join(scene.home, 'checks'));
    const last = done.map(([id]) => checks.findLast((line) => line.startsWith(`prd.${id}: `)));
    expect(last.map((line) => line?.split(': ')[1]?.trim().split(' ').length)).toEqual([1, 2, 3]);
    // What has landed leaves no work tree behind.
    expect(git(scene, 'worktree', 'list').trimEnd().split('\n')).toHaveLength(1);
  });

  test('a landing that fails three times blocks its item, and others go on', async () => {
    // It never merges, so that its landing fails again and again.
    const scene = await sceneWith(writer(2, 'echo again >> "work-$id"'));
    git(scene, 'checkout', '-q', '--detach');
    const { exitCode, stdout, stderr } = await work(scene, [
      '--concurrency',
      '2',
      '--item',
      'a',
      '--item',
      'b',
    ]);
    expect(exitCode, stdout + stderr).toBe(5);
    const [, blocked = ''] = stdout.trimEnd().split('\n');
    const [id = ''] = blocked;
    expect(blocked).toMatch(
      /^[ab] blocked: not-landed:conflict; .*ralph\/prd has changed the same lines of notes\.txt; .*; to try it again: .*--again [ab]$/,
    );
    expect(stderr).toMatch(/\(3 of 3 times\)/);
    expect(stderr).toContain('HEAD is on no branch, so items land on the new branch ralph/prd');
    expect(git(scene, 'branch', '--list', `ralph/prd.${id}`)).toContain(`ralph/prd.${id}`);
    const calls = scene.fake.calls().length;
    expect(calls).toBe(5);

    // A person resolves it: the next run lands it without an agent.
    const tree = join(`${scene.folder}.ralph`, `prd.${id}`);
    execFileSync('sh', ['-c', `id=${id}; ${MERGES}`], { cwd: tree, env: scene.env });
    const second = await work(scene, ['--item', 'a', '--item', 'b']);
    expect([second.exitCode, second.stdout]).toEqual([0, expect.stringMatching(`^${id} done: `)]);
    expect(passed(scene)).toEqual(['a', 'b']);
    expect(scene.fake.calls()).toHaveLength(calls);
  });

  test('an item whose iterations are used up stays complete, so that what a person fixes lands', async () => {
    const scene = await sceneWith(writer(2), listText(['a', 'b']));
    const flags = ['--concurrency', '2', '--max-iterations', '1'];
    const first = await work(scene, flags);
    expect([first.exitCode, first.stdout]).toEqual([
      5,
      expect.stringMatching(/^[ab] done: .*\n[ab] blocked: not-landed:conflict; /),
    ]);
    const id = passed(scene).includes('a') ? 'b' : 'a';
    const tree = join(`${scene.folder}.ralph`, `prd.${id}`);
    execFileSync('sh', ['-c', `id=${id}; ${MERGES}`], { cwd: tree, env: scene.env });
    expect((await work(scene, flags)).stdout).toMatch(new RegExp(`^${id} done: `));
    expect([passed(scene), scene.fake.calls().length]).toEqual([['a', 'b'], 2]);
  });

  test('a check that is red after the merge goes back, and the current branch moves with its checkout', async () => {
    // Red where the work of another item is there and nothing is fixed.
    const check = 'test ! -e work-a || test ! -e work-b || test -e fixed';
    const shell = `${ID}\nif [ -e "work-$id" ]; then echo ok > fixed\nelse ${together(2)}; echo "$id" > "work-$id"\nfi`;
    const scene = await sceneWith({ shell, text: PROMISE }, listText(['a', 'b']));
    git(scene, 'checkout', '-qb', 'work');
    const { exitCode, stdout, stderr } = await work(
      scene,
      ['--concurrency', '2', '--commit'],
      check,
    );
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stderr).toContain('items land on the branch work');
    expect(stderr).toMatch(/its check failed after the merge with work: .* \(1 of 3 times\)/);
    expect([scene.has('work-a'), scene.has('work-b'), scene.has('fixed')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(git(scene, 'status', '--short')).toBe(' M prd.json\n');
    expect(passed(scene)).toEqual(['a', 'b']);
  });

  test('an item whose work is not on its branch goes back, and the others go on', async () => {
    // One commits on a branch that nobody knows, and one removes its own; told of that, each brings its work back.
    const shell = `${ID}
      if [ "$id" = c ]; then echo c > work-c
      elif [ -e "$HOME/begun-$id" ]; then
        if [ "$id" = a ]; then git merge -q feature; else git checkout -q -b ralph/prd.b; echo more >> work-b; fi
      else
        touch "$HOME/begun-$id"; echo "$id" > "work-$id"
        if [ "$id" = a ]; then git checkout -q -b feature; git add work-a; git commit -qm mine; git checkout -q ralph/prd.a
        else git checkout -q --detach; git branch -qD ralph/prd.b; fi
      fi`;
    const scene = await sceneWith({ shell, text: PROMISE });
    // What a flag accepts is no work that is somewhere else.
    const first = await work(scene, ['--item', 'b', '--accept-empty'], 'true');
    expect(first.stdout).toMatch(/^b done: .*; landed on ralph\/prd as [0-9a-f]{12}\n$/);
    expect(first.stderr).toContain('is on no branch instead of ');
    const second = await work(scene, [], 'true');
    expect(second.stdout).toMatch(/^a done: .*; landed on .*\nc done: .*; landed on .*\n$/);
    expect(second.stderr).toMatch(
      /nothing is changed on its branch ralph\/prd\.a.* \(1 of 3 times\)/,
    );
    expect([first.exitCode, second.exitCode, passed(scene)]).toEqual([0, 0, ['a', 'b', 'c']]);
    expect(git(scene, 'ls-tree', '--name-only', 'ralph/prd')).toContain('work-a\nwork-b\nwork-c\n');
  });

  test('an item that fails leaves its work on its branch, and others go on', async () => {
    const shell = `${ID}\necho "$id" > "work-$id"`;
    const scene = await sceneWith({ shell, text: PROMISE }, listText(['a', 'b']));
    const flags = ['--max-iterations', '1', '--json'];
    const { exitCode, stdout } = await work(scene, flags, 'test ! -e work-a');
    expect(exitCode).toBe(5);
    const events = jsonLines(stdout).filter(({ event }) => /^(?:item|list)_/.test(event));
    expect(events).toEqual([
      expect.objectContaining({ event: 'item_blocked', item: 'a', reason: 'max_iterations' }),
      expect.objectContaining({ event: 'item_done', item: 'b', commit: expect.any(String) }),
      expect.objectContaining({ event: 'list_ended', done: 1, blocked: 1 }),
    ]);
    expect(existsSync(join(`${scene.folder}.ralph`, 'prd.a', 'work-a'))).toBe(true);
    expect(passed(scene)).toEqual(['b']);
  });

  test('a stop ends all items that are at work, and the next run goes on with all of them', async () => {
    const shell = `${ID}\necho "$id" > "work-$id"`;
    const waits: Turn = { hangs: true };
    const goesOn: Turn = { shell, text: PROMISE };
    const scene = await sceneWith([waits, waits, goesOn, goesOn, goesOn]);
    const check = 'test -s notes.txt || ls work-*';
    const flags = ['--verify', check, ...FLAGS, '--concurrency', '2'];
    const first = await scene.start(['work', 'prd.json', ...flags]);
    await scene.fake.untilCalls(2);
    expect((await scene.ralph(['status'])).stdout).toContain('prd.json  0/3 done, working on a, b');
    process.kill(first.pid, 'SIGINT');
    expect((await first.ended).exitCode).toBe(130);
    const working = scene.read('.ralph_state/lists/prd.json');
    expect(JSON.parse(working)).toMatchObject({
      ...{ before: null, target: 'ralph/prd' },
      items: [
        { id: 'a', state: 'working' },
        { id: 'b', state: 'working' },
      ],
    });

    const second = await scene.ralph(['work', 'prd.json', '--verify', check, ...FLAGS]);
    expect(second.exitCode, second.stderr).toBe(0);
    expect(second.stdout).toMatch(/^a done: .*\nb done: .*\nc done: .*\n$/);
    expect(second.stderr).toContain('master is protected, so items land on ralph/prd\n');
    expect(git(scene, 'ls-tree', '--name-only', 'ralph/prd')).toContain('work-a\nwork-b\nwork-c\n');
    expect(scene.fake.calls()).toHaveLength(5);

    // As a kill leaves it between a landing and the tick: work tree and branch of the item are gone.
    await scene.write('prd.json', listText(['a', 'b', 'c']));
    await scene.write('.ralph_state/lists/prd.json', working);
    const [landed = ''] = second.stdout.match(/ralph\/prd as [0-9a-f]{12}/) ?? [];
    const third = await scene.ralph(['work', 'prd.json', '--verify', check, '--item', 'a']);
    expect([third.exitCode, third.stdout]).toEqual([0, expect.stringContaining(landed)]);
    expect([passed(scene), git(scene, 'branch', '--list', 'ralph/prd.a')]).toEqual([['a'], '']);
    expect(scene.fake.calls()).toHaveLength(5);
  });

  test.for<[flags: readonly string[], problem: RegExp]>([
    [['--concurrency', '2'], /--concurrency 2 needs --worktree/],
    [['--concurrency', '0', '--worktree'], /--concurrency expects/],
    [['--worktree'], /--worktree needs a git work tree/],
  ])('%s is refused where it makes no sense', async ([flags, problem]) => {
    const scene = await makeScene();
    await scene.write('prd.json', listText(['a']));
    const { exitCode, stderr } = await scene.ralph([
      'work',
      'prd.json',
      '--verify',
      'true',
      ...flags,
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)]);
    expect(scene.has('.ralph_state')).toBe(false);
  });
});

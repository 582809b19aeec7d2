import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

/** The agent writes the file that the item asks for, unless the item is called `bad`. */
const WORKS: Turn = {
  shell:
    'id=$(printf \'%s\' "$RALPH_TASK_ID" | sed \'s/^[^.]*[.]//\'); echo "$id" > "work-$id"; case $id in *bad*) touch broken;; esac',
  text: 'It is there.\n\n<promise>TASK_COMPLETE</promise>',
};
const CHECK = ['--verify', 'test ! -e broken', '--delay', '0', '-n', '1', '--no-baseline'];

/** A work tree, and beside it a folder for what a tracker keeps. */
interface Tracked {
  readonly scene: Scene;
  /** Writes a stand-in for a program of the tracker; `$T` is its folder, and `$T/log` has what was called. */
  install(name: string, shell: string): void;
  keep(name: string, text: string): void;
  read(name: string): string;
  has(name: string): boolean;
  forget(name: string): void;
  log(): readonly string[];
}

async function tracked(turns: Turn | readonly Turn[] = WORKS): Promise<Tracked> {
  const scene = await makeScene(turns);
  await scene.write('.gitignore', '.ralph_state/\nNeeds_Action/\n');
  scene.makeRepository();
  const folder = path.join(scene.home, 'tracker');
  await mkdir(folder);
  const place = (name: string): string => path.join(folder, name);
  return {
    scene,
    install(name, shell) {
      const file = path.join(scene.fake.dir, name);
      writeFileSync(file, `#!/bin/sh\nT='${folder}'\n${shell}\n`);
      chmodSync(file, 0o755);
    },
    keep: (name, text) => writeFileSync(place(name), text),
    read: (name) => readFileSync(place(name), 'utf8'),
    has: (name) => existsSync(place(name)),
    forget: (name) => rmSync(place(name)),
    log: () =>
      existsSync(place('log')) ? readFileSync(place('log'), 'utf8').trim().split('\n') : [],
  };
}

const work = ({ scene }: Tracked, ...words: readonly string[]) =>
  scene.ralph(['work', ...words, ...CHECK]);

const GH = `case "$1 $2" in
'api graphql')
  case "$*" in *mutation*) echo "wrote" >> "$T/log";; esac
  for word; do case $word in label=*) echo "list $word" >> "$T/log";; esac; done
  cat "$T/issues" ;;
*) echo "$GH_HOST $GH_REPO: $*" >> "$T/log" ;;
esac`;
const issues = (...nodes: readonly object[]): string =>
  JSON.stringify({ data: { repository: { nameWithOwner: 'me/app', issues: { nodes } } } });
const issue = (number: number, ...blockedBy: readonly number[]): object => ({
  ...{ number, title: `Issue ${number}`, body: '`touch ran`; $(touch ran)' },
  ...{ createdAt: '2026-01-01T00:00:00Z', labels: { nodes: [{ name: 'ai' }] } },
  blockedBy: { nodes: blockedBy.map((each) => ({ number: each, state: 'OPEN' })) },
});

test('github: open issues with the label, blockers first, and nothing is written there unless --done says so', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  tracker.install('gh', GH);
  tracker.keep('issues', `${issues(issue(2, 3))}${issues(issue(3), issue(4, 99))}`);
  const dry = await work(tracker, 'github', '--label', 'a b', '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toMatchObject({
    ...{ list: 'github', source: 'github', order: ['3', '2'] },
    items: [
      { id: '2', state: 'waiting', waits_for: ['3'], task_id: 'github.2' },
      ...[
        { id: '3', state: 'ready' },
        { id: '4', waits_for: ['99'] },
      ],
    ],
  });
  const first = await work(tracker, 'github', '--label', 'a b');
  expect(first.stdout).toMatch(/^3 done: .*\n2 done: .*\n$/);
  expect(first.exitCode).toBe(5);
  const [note] = scene.notes().filter(({ name }) => name.startsWith('RALPH_LIST_github_'));
  expect(note?.text).toContain('**4** (Issue 4) waits for 99');
  expect(new Set(tracker.log())).toEqual(new Set(['list label=a b']));
  expect(scene.has('ran')).toBe(false);
  expect(scene.prompt(1)).toContain('do not close or change it where it comes from');
  expect((await scene.ralph(['status'])).stdout).toContain('github  2 done\n');

  // What was done here is not done again, and is not told later; what follows from it is.
  tracker.keep('issues', issues(issue(2, 3), issue(3), issue(4, 2)));
  const done = 'gh issue close "$RALPH_ITEM_ID"';
  const second = await work(tracker, 'github', '--label', 'a b', '--done', done);
  expect([second.exitCode, second.stdout]).toEqual([0, expect.stringMatching(/^4 done: .*\n$/)]);
  expect(tracker.log().filter((line) => !line.startsWith('list'))).toEqual([
    'github.com github.com/me/app: issue close 4',
  ]);
  expect(scene.notes().filter(({ name }) => name.startsWith('RALPH_LIST_'))).toEqual([]);
  expect(scene.fake.calls()).toHaveLength(3);

  // What is known of the numbers is not about another repository.
  tracker.keep('issues', issues(issue(2)).replace('me/app', 'you/app'));
  const other = await work(tracker, 'github', '--label', 'a b');
  expect([other.exitCode, other.stderr]).toEqual([
    2,
    expect.stringMatching(/those of github.com\/you\/app/),
  ]);
});

test('github: an edited issue that is left out is named, also where nothing else is open', async () => {
  const tracker = await tracked();
  tracker.install('gh', GH);
  tracker.keep('issues', issues({ ...issue(2), lastEditedAt: '2026-02-01T00:00:00Z' }));
  for (const more of [['--dry-run'], []]) {
    const { exitCode, stderr } = await work(tracker, 'github', '--label', 'ai', ...more);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('issue 2 was edited after')]);
  }
});

test('github: with --worktree an issue is told once it has landed, by the commit that it landed as', async () => {
  // Both begin at the same commit, and are red together until one that comes back fixes that.
  const tracker = await tracked({
    ...WORKS,
    shell: `id=$(printf '%s' "$RALPH_TASK_ID" | sed 's/^[^.]*[.]//')
      if [ -e "work-$id" ]; then echo ok > fixed
      else
        touch "$HOME/begun-$id"; until [ -e "$HOME/begun-2" ] && [ -e "$HOME/begun-3" ]; do sleep 0.05; done
        [ "$id" != 4 ] || test -e work-2 && echo "$id" > "work-$id"
      fi`,
  });
  const { scene } = tracker;
  const git = (args: string): string =>
    execFileSync('git', args.split(' '), { cwd: scene.folder, env: scene.env, encoding: 'utf8' });
  tracker.install('gh', GH);
  tracker.keep('issues', issues(issue(2), issue(3), issue(4, 2)));
  tracker.keep('full', '');
  const done =
    'git cat-file -e "ralph/github:work-$RALPH_ITEM_ID" && test ! -e "$HOME/tracker/full" && cat >> "$HOME/tracker/told"';
  const check = 'test ! -e work-2 || test ! -e work-3 || test -e fixed';
  const landing = () =>
    scene.ralph([
      ...['work', 'github', '--label', 'ai', '--verify', check, '--delay', '0', '--no-baseline'],
      ...['-n', '5', '--worktree', '--concurrency', '2', '--done', done],
    ]);
  const first = await landing();
  expect(first.exitCode, first.stdout + first.stderr).toBe(5);
  expect(first.stderr).toContain('items land on the new branch ralph/github');
  expect(first.stderr).toMatch(/its check failed after the merge .* \(1 of 3 times\)/s);
  const lines = first.stdout.trimEnd().split('\n');
  const landed = lines.flatMap((line) => {
    const [, id = '', commit = ''] =
      /^(\d) done: .*; landed on ralph\/github as (\w+)$/.exec(line) ?? [];
    return [[id, commit]];
  });
  expect(landed.map(([id]) => id).sort()).toEqual(['2', '3', '4']);
  // What waits for another one began at what had landed.
  expect(git('ls-tree --name-only ralph/github')).toContain('fixed\nwork-2\nwork-3\nwork-4\n');
  expect(tracker.has('told')).toBe(false);
  expect([git('status --short'), git('worktree list').trimEnd().split('\n').length]).toEqual([
    '',
    1,
  ]);

  tracker.forget('full');
  const calls = scene.fake.calls().length;
  const second = await landing();
  expect([second.exitCode, second.stdout, scene.fake.calls().length]).toEqual([0, '', calls]);
  const told = tracker
    .read('told')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.map(({ id, commit }) => [String(id), commit.slice(0, 12)]).sort()).toEqual(
    landed.sort(),
  );
});

/** As `bd ready`, it prints what nobody has claimed and nobody has closed. */
const BD = `test "$BEADS_NO_DAEMON" = 1 || exit 9
case $1 in
list) echo '[]' ;;
ready)
  printf '['; gap=
  for id in $(cat "$T/ids"); do
    test -e "$T/claimed-$id" && continue
    printf '%s{"id":"%s","title":"Bead %s","status":"open","priority":2}' "$gap" "$id" "$id"; gap=,
  done
  printf ']' ;;
update)
  echo "$*" >> "$T/log"
  test "$2" = bd-other && { echo 'already claimed by ann' >&2; exit 1; }
  touch "$T/claimed-$2" ;;
close)
  test -e "$T/hang" && { echo $$ > "$T/closing"; exec sleep 600; }
  test -e "$T/full" && { echo 'database is locked' >&2; exit 3; }
  echo "$*" >> "$T/log" ;;
esac`;

test('beads: an item is claimed, and closed once it is proven; a close that fails is repeated without an agent', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  tracker.install('bd', BD);
  tracker.keep('ids', 'bd-1 bd-other bd-bad');
  tracker.keep('full', '');
  const first = await work(tracker, 'beads');
  expect(first.stdout).toMatch(/^bd-1 done: .*\nbd-bad blocked: max_iterations; /);
  expect(first.exitCode).toBe(5);
  expect(first.stderr).toMatch(/bd-other is left to others: bd update .* already claimed by ann/);
  expect(first.stderr).toMatch(/bd-1 is done, but its source was not told: .*exited with 3: data/);
  expect(first.stderr).toMatch(/1\/3 done, 1 blocked, 1 left to others/);
  expect(tracker.log().filter((line) => line.startsWith('close'))).toEqual([]);

  tracker.keep('ids', 'bd-1 bd-bad');
  tracker.forget('full');
  const second = await work(tracker, 'beads');
  expect(tracker.log().filter((line) => line.startsWith('close'))).toEqual([
    expect.stringMatching(/^close bd-1 --reason (?:not )?proven: /),
  ]);
  // It was claimed and so is not listed, and is blocked all the same.
  expect([second.exitCode, second.stdout]).toEqual([5, '']);
  expect(scene.fake.calls()).toHaveLength(2);
  expect((await scene.ralph(['status'])).stdout).toContain('beads  1 done, 1 blocked\n');

  const again = await work(tracker, 'beads', '--again', 'bd-bad', '--verify', 'true');
  expect(again.stdout).toMatch(/^bd-bad /);
  expect(scene.fake.calls()).toHaveLength(3);
});

test('a kill between the end of a task and its close costs no second agent', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  tracker.install('bd', BD);
  tracker.keep('ids', 'bd-1');
  tracker.keep('hang', '');
  const killed = await scene.start(['work', 'beads', ...CHECK]);
  await expect.poll(() => tracker.has('closing'), { timeout: PATIENCE_MS }).toBe(true);
  process.kill(killed.pid, 'SIGKILL');
  await killed.ended;
  const pid = Number(readFileSync(path.join(scene.home, 'tracker/closing'), 'utf8'));
  process.kill(pid, 'SIGKILL');
  tracker.install('bd', BD.replace('test -e "$T/hang"', 'false'));
  const next = await work(tracker, 'beads');
  expect([next.exitCode, next.stdout]).toEqual([0, '']);
  expect(tracker.log()).toEqual([
    'update bd-1 --claim',
    expect.stringMatching(/^close bd-1 --reason (?:not )?proven: /),
  ]);
  expect(scene.fake.calls()).toHaveLength(1);
});

test('--from: no text of a list is a command, and --done gets the item, its proof and its commit', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  const id = '$(touch ran)`touch ran`"; touch ran; \'';
  tracker.keep('list', JSON.stringify({ items: [{ id, title: id, verify: 'touch ran' }] }));
  tracker.install('list', 'cat "$T/list"');
  tracker.install('told', 'printf \'%s\\n\' "$RALPH_ITEM_ID" >> "$T/log"; cat >> "$T/log"');
  const { exitCode } = await work(
    ...([tracker, '--from', 'list', '--claim', 'told', '--done', 'told', '--commit'] as const),
  );
  expect(exitCode).toBe(0);
  expect(scene.has('ran')).toBe(false);
  const [first, claimed = '', second, done = ''] = tracker.log();
  expect([first, second]).toEqual([id, id]);
  const fields = { id, title: id, task_id: expect.stringMatching(/^from\.[\w-]+$/) };
  expect(JSON.parse(claimed)).toEqual({ ...fields, verify: 'touch ran' });
  expect(JSON.parse(done)).toEqual({
    ...{ ...fields, verify: 'touch ran', proof: expect.stringContaining('proven: ') },
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
  });

  // What is known of the ids is about what the command printed, and not about another one.
  const other = await work(tracker, '--from', 'list other');
  expect([other.exitCode, other.stderr]).toEqual([
    2,
    expect.stringMatching(/these are other ones/),
  ]);
});

test('an agent that writes a hook of bd ends the run before bd runs it', async () => {
  const shell = `${WORKS.shell}; mkdir -p .beads/hooks; echo 'touch ran' > .beads/hooks/on_close`;
  const tracker = await tracked({ ...WORKS, shell });
  tracker.install('bd', BD);
  tracker.keep('ids', 'bd-1 bd-2');
  const { exitCode, stderr } = await work(tracker, 'beads');
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(
      /bd-1 is done, but .*\.beads\/hooks\/?\S* has changed since the run began/,
    ),
  ]);
  expect(tracker.log()).toEqual(['update bd-1 --claim']);
});

test('a command that fails ends the run with its last line, and a stop ends the command', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  tracker.install('gh', 'echo "{}"; echo first >&2; echo "gh: not logged in" >&2; exit 4');
  const failed = await work(tracker, 'github', '--label', 'ai');
  expect([failed.exitCode, failed.stdout]).toEqual([1, '']);
  expect(failed.stderr).toMatch(
    /github cannot be read; gh api .* exited with 4: gh: not logged in/,
  );

  // Once an item is done, the list is read again.
  tracker.install('list', 'test -e work-a && exit 9; echo \'[{"id":"a","title":"a"}]\'');
  const later = await work(tracker, '--from', 'list "$PWD" || exit $?');
  expect([later.exitCode, later.stdout]).toEqual([1, expect.stringMatching(/^a done: /)]);

  tracker.install('slow', 'echo $$ > "$T/pid"; sleep 600');
  const stopped = await scene.start(['work', '--from', 'slow', ...CHECK]);
  await expect.poll(() => tracker.has('pid'), { timeout: PATIENCE_MS }).toBe(true);
  process.kill(stopped.pid, 'SIGINT');
  expect((await stopped.ended).exitCode).toBe(130);
});

test('a program in the work tree takes the place of none of the tracker', async () => {
  const tracker = await tracked();
  const { scene } = tracker;
  tracker.install('gh', GH);
  tracker.keep('issues', issues(issue(1)));
  chmodSync(await scene.write('node_modules/.bin/gh', '#!/bin/sh\ntouch ran\n'), 0o755);
  const env = { PATH: `${scene.folder}/node_modules/.bin:${scene.env.PATH}` };
  const words = ['work', 'github', '--label', 'ai', ...CHECK, '--dry-run'];
  const { stdout } = await scene.ralph(words, { env });
  expect(stdout).toContain('1. 1: Issue 1');
  expect(scene.has('ran')).toBe(false);
});

test('--claim and --done go with a file, too', async () => {
  const tracker = await tracked();
  tracker.install(
    'told',
    'echo "$1 $RALPH_ITEM_ID" >> "$T/log"; test "$1 $RALPH_ITEM_ID" != "claim T1"',
  );
  await tracker.scene.write('plan.md', '- [ ] T1 one\n- [ ] T2 two\n');
  const calls = ['--claim', 'told claim', '--done', 'told done'];
  const { exitCode, stdout } = await work(tracker, 'plan.md', ...calls, '--json');
  expect(exitCode).toBe(5);
  expect(stdout).toContain('"event":"item_left","item":"T1"');
  expect(
    tracker.scene
      .notes()
      .map(({ text }) => text)
      .join(''),
  ).toContain('is left to others');
  expect(tracker.scene.read('plan.md')).toBe('- [ ] T1 one\n- [x] T2 two\n');
  expect(tracker.log()).toEqual(['claim T1', 'claim T2', 'done T2']);
});

test.for<[words: readonly string[], problem: RegExp]>([
  [['github'], /expects --label NAME/],
  [['github', '--label', ''], /expects --label NAME/],
  [['beads', '--label', 'x'], /--label is for ralph work github/],
  [['beads', '--section', 'x'], /--section is for files and --from/],
  [['beads', '--item-checks'], /--item-checks expects a list that is a file/],
  [['plan.md', '--from', 'echo'], /--from takes the place of a list; found the list plan\.md/],
  [['--from', ' '], /--from expects a command; found none/],
  [
    ['--from', './plan.md'],
    /--from expects a command that uses no file of the work tree.*plan\.md/,
  ],
  [['plan.md', '--done', 'sh plan.md'], /--done expects a command that uses no file/],
  [['--from', 'echo oops'], /what --from prints expects JSON; line 1, column 1 has 'oops'/],
  [['--from', 'echo \'[{"id":"-x","title":"x"}]\''], /without a dash in front/],
  [['--from', 'echo \'[{"id":"x","title":"x"}]\'', '--item', 'y'], /has no 'y'; did you mean x\?/],
])('%s is refused', async ([words, problem]) => {
  const tracker = await tracked();
  await tracker.scene.write('plan.md', '- [ ] T1 one\n');
  const { exitCode, stderr } = await work(tracker, ...words);
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)]);
  expect(tracker.scene.has('.ralph_state')).toBe(false);
});

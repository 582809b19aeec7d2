import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inHistory, taskPaths } from '../../src/effects/state/task-folder.ts';
import { seeded } from './fault-scene.ts';
import { livingIn } from './living-in.ts';
import { PATIENCE_MS } from './patience.ts';
import { until } from './processes.ts';
import { gitIn, put } from './repository.ts';
import { startRalph } from './run-ralph.ts';

/*
 * A list is worked on, and its drivers are killed at changes that they make to files. After each kill no item is ticked
 * whose task has not completed and landed; at the end all are done, each was landed once, and nothing is left.
 */

const ITEMS = ['a', 'b', 'c'] as const;
const DIES = fileURLToPath(new URL('../fixtures/dies-at.cjs', import.meta.url));

/** How a list is worked on: one item at a time where it lies, or three at once in work trees of their own. */
export type ListPlay = 'in-place' | 'side-by-side';

/** What a play came to. */
export interface ListKills {
  readonly problems: readonly string[];
  readonly kills: number;
  /** How many changes to files the first driver made, if it was not killed. */
  readonly points: number;
}

/** Draws where each of some drivers is killed. */
export function drawDeaths(seed: number, points: number): readonly string[] {
  const random = seeded(seed);
  const moments = ['before', 'after', 'torn'];
  return Array.from({ length: 3 }, () => {
    const at = 1 + Math.floor(random() * points * 0.9);
    return `${at} ${moments[Math.floor(random() * moments.length)]}`;
  });
}

/** Plays a list below `root`, which is empty. `deaths` says where each driver is killed; the next one lives. */
export async function playListKills(
  root: string,
  play: ListPlay,
  deaths: readonly string[],
): Promise<ListKills> {
  const [folder, home, bin] = [join(root, 'work'), join(root, 'home'), join(root, 'bin')];
  mkdirSync(home, { recursive: true });
  const list = ITEMS.map((id) => ({ id, title: `Item ${id}`, passes: false }));
  const listText = `${JSON.stringify({ items: list }, null, 1)}\n`;
  put(home, { '.gitconfig': '[user]\nname = Ada\nemail = ada@example.com\n' });
  put(folder, { 'prd.json': listText, 'notes.txt': 'begin\n', '.gitignore': '.ralph_state/\n' });
  put(bin, { agent: agentScript(folder, home) });
  chmodSync(join(bin, 'agent'), 0o755);
  const git = gitIn(folder);
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  const head = git('rev-parse', 'main');
  const isApart = play === 'side-by-side';
  const problems: string[] = [];

  const landed = (): readonly string[] =>
    git('branch', '--list', 'ralph/prd') === ''
      ? []
      : git('log', '--format=%(trailers:key=Ralph-Task,valueonly,separator=)', 'main..ralph/prd')
          .split('\n')
          .filter((line) => line !== '');
  // A kill can keep the state of a completed task from its way into the history.
  const isCompleted = (id: string): boolean => {
    const open = taskPaths(join(folder, '.ralph_state'), `prd.${id}`);
    return [open, inHistory(open, `prd.${id}`)].some(
      ({ stateFile }) =>
        existsSync(stateFile) && JSON.parse(readFileSync(stateFile, 'utf8')).status === 'completed',
    );
  };
  const ticked = (): readonly string[] => {
    const text = readFileSync(join(folder, 'prd.json'), 'utf8');
    if (text.replaceAll('true', 'false') !== listText) problems.push(`the list is now ${text}`);
    return ITEMS.filter((id) => new RegExp(`"${id}",[^}]*true`).test(text));
  };
  const look = (when: string): void => {
    for (const id of ticked()) {
      if (!isCompleted(id))
        problems.push(`${when}: ${id} is ticked, and its task is not completed`);
      if (isApart && !landed().includes(`prd.${id}`))
        problems.push(`${when}: ${id} is ticked, and has not landed`);
    }
  };

  const apart = isApart ? ['--worktree', '--concurrency', '3'] : [];
  const args = [
    'work',
    'prd.json',
    '--verify',
    'test -s notes.txt',
    '--delay',
    '0',
    '--no-baseline',
    ...apart,
  ];
  const points = join(root, 'points');
  let kills = 0;
  for (let driver = 0; ; driver += 1) {
    const death = deaths[driver];
    const env = {
      NODE_OPTIONS: `--require ${DIES}`,
      ...(death === undefined ? { FAULT_POINTS: points } : { FAULT_AT: death }),
      RALPH_AGENT_COMMAND: join(bin, 'agent'),
    };
    const ralph = await startRalph(args, { cwd: folder, home, env, timeoutMs: PATIENCE_MS });
    const { signal, exitCode, stdout, stderr } = await ralph.ended;
    look(`after driver ${driver} (${death ?? 'not killed'})`);
    if (signal !== null) {
      kills += 1;
      continue;
    }
    if (exitCode !== 0)
      problems.push(`driver ${driver} ended with ${exitCode}:\n${stdout}${stderr}`);
    if (/bug in ralph|TypeError|(?<!API )Error:/.test(stderr)) problems.push(stderr);
    break;
  }
  await until(
    () => livingIn(home).length === 0,
    () => `the death of ${JSON.stringify(livingIn(home))}`,
  ).catch((error: Error) => problems.push(error.message));

  if (ticked().length !== ITEMS.length) problems.push(`only ${ticked()} are ticked at the end`);
  const twice = join(home, 'twice');
  if (existsSync(twice)) problems.push(`worked on after its end: ${readFileSync(twice, 'utf8')}`);
  const words = isApart
    ? git('show', 'ralph/prd:notes.txt')
    : readFileSync(join(folder, 'notes.txt'), 'utf8');
  const lost = ITEMS.filter((id) => !words.split('\n').includes(id));
  if (lost.length > 0) problems.push(`the work of ${lost} is lost: ${words}`);
  const landings = landed();
  if (isApart && landings.length !== ITEMS.length) problems.push(`landed were ${landings}`);
  if (isApart && git('status', '--short') !== 'M prd.json') problems.push(git('status', '--short'));
  if (git('rev-parse', 'main') !== head) problems.push('main has moved');
  const trees = git('worktree', 'list').split('\n');
  if (trees.length > 1) problems.push(`there are work trees left: ${trees}`);
  git('fsck', '--connectivity-only');
  const count = existsSync(points) ? readFileSync(points, 'utf8').trimEnd().split('\n').length : 0;
  return { problems, kills, points: count };
}

/** An agent that writes its line, and merges what has landed if it finds its own work. */
function agentScript(folder: string, home: string): string {
  return `#!/bin/sh
cat > /dev/null
id=\${RALPH_TASK_ID#*.}
cd "${folder}/.ralph_state" && grep -qs '"status": *"completed"' "$RALPH_TASK_ID.json" "history/$RALPH_TASK_ID.json" && echo "$id" >> "${home}/twice"
cd "$OLDPWD"
if [ -e "work-$id" ] && git rev-parse -q --verify ralph/prd > /dev/null; then
  # A git that was killed with an earlier driver has left its lock.
  rm -f "$(git rev-parse --git-path index.lock)"
  {
    git add -A; git commit -qm "$id"
    git merge -q ralph/prd || { git show ralph/prd:notes.txt > notes.txt; echo "$id" >> notes.txt; git add -A; git commit -qm merge; }
  } > /dev/null 2>&1
fi
grep -qx "$id" notes.txt || echo "$id" >> notes.txt
echo "$id" > "work-$id"
echo '<promise>TASK_COMPLETE</promise>'
`;
}

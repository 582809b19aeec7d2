import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seeded } from './fault-scene.ts';
import { keepTask } from './kept-task.ts';
import { gitIn, put } from './repository.ts';
import { STATE_HOME } from './state-home.ts';

/*
 * One round: four tasks that have changed the same few files land at once, while a person commits on the
 * branch or has changes in its checkout. Some landings are killed. Then each task is landed once more.
 */

const RALPH = fileURLToPath(new URL('../../bin/ralph.js', import.meta.url));
const TASKS = ['one', 'two', 'three', 'four'] as const;
const FILES = ['a.txt', 'b.txt', 'c.txt'] as const;
const LINES = 12;

/** What a round came to. */
export interface LandingRound {
  /** What must not be; empty if all is well. */
  readonly problems: readonly string[];
  /** How often each kind of end was seen. */
  readonly ends: Readonly<Record<string, number>>;
}

interface LandEnd {
  readonly taskId: string;
  readonly exitCode: number | null;
  readonly said: string;
}

/** Plays a round in an empty folder. The seed decides what is changed and who is killed. */
export async function playLandingRound(folder: string, seed: number): Promise<LandingRound> {
  const random = seeded(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const [repository, home] = [join(folder, 'repo'), join(folder, 'home')];
  mkdirSync(home, { recursive: true });
  put(home, { '.gitconfig': '[user]\nname = Ada\nemail = ada@example.com\n' });
  const numbers = Array.from({ length: LINES }, (_, at) => `${at}\n`).join('');
  put(repository, Object.fromEntries(FILES.map((name) => [name, numbers])));
  put(repository, { '.gitignore': '.ralph_state\n' });
  const git = gitIn(repository);
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  const base = git('rev-parse', 'main');

  /** Changes a line of a file. */
  const edit = (root: string, word: string): void => {
    const file = join(root, FILES[below(FILES.length)] ?? 'a.txt');
    const lines = readFileSync(file, 'utf8').split('\n');
    lines[below(LINES)] = word;
    writeFileSync(file, lines.join('\n'));
  };

  for (const taskId of TASKS) {
    const path = join(folder, 'repo.ralph', taskId);
    git('worktree', 'add', '-q', '-b', `ralph/${taskId}`, path, 'main');
    const own = gitIn(path);
    for (let number = below(3); number > 0; number -= 1) {
      edit(path, `${taskId} ${number}`);
      own('commit', '-qam', `${taskId} ${number}`);
    }
    if (random() < 0.6) edit(path, `${taskId} left`);
    if (random() < 0.4) put(path, { [`${taskId}.txt`]: taskId });
    if (random() < 0.15) put(path, { red: '' });
    const tree = { path, branch: `ralph/${taskId}`, base, onto: 'main', origin: repository };
    const settings = { verify: 'test ! -e red && grep -q . a.txt' };
    keepTask(join(repository, '.ralph_state'), { taskId, tree, startDir: repository, settings });
  }
  const look = () =>
    TASKS.map((taskId) => {
      const own = gitIn(join(folder, 'repo.ralph', taskId));
      return `${own('rev-parse', `ralph/${taskId}`)} ${own('status', '--porcelain')} ${own('diff')}`;
    });
  const before = look();

  const land = (taskId: string, more: readonly string[], killAfterMs: number | null) =>
    runLand({ repository, home }, taskId, more, killAfterMs);
  const landings = TASKS.map((taskId) => {
    const more = random() < 0.3 ? ['--merge'] : [];
    return land(taskId, more, random() < 0.2 ? below(2_500) : null);
  });
  const commits: string[] = [];
  const isDirty = random() < 0.2;
  if (isDirty) edit(repository, 'mine, not committed');
  else {
    for (let number = below(3); number > 0; number -= 1) {
      await sleep(below(800));
      commits.push(await commitByPerson(repository, () => edit(repository, `mine ${number}`)));
    }
  }
  const ends = await Promise.all(landings);
  for (const taskId of TASKS) ends.push(await land(taskId, [], null));

  const problems = [
    ...ends.flatMap((end) => problemOf(end, git)),
    ...commits.filter((id) => !isIn(git, id)).map((id) => `the commit ${id} of a person is lost`),
  ];
  if (look().join() !== before.join()) problems.push('a task was changed');
  const trees = git('worktree', 'list').split('\n').length;
  if (trees !== TASKS.length + 1) problems.push(`there are ${trees} work trees`);
  const dirt = git('diff', 'HEAD', '--stat');
  if (!isDirty && dirt !== '') problems.push(`the checkout is not as the branch: ${dirt}`);
  if (isDirty && !/ 1 file changed, 1 insertion\(\+\), 1 deletion\(-\)$/.test(dirt)) {
    problems.push(`what a person had changed is not as it was: ${dirt}`);
  }
  git('fsck', '--connectivity-only');
  if (existsSync(join(repository, '.git', 'index.lock'))) problems.push('the index is locked');
  const counts: Record<string, number> = {};
  for (const end of ends) counts[kindOf(end)] = (counts[kindOf(end)] ?? 0) + 1;
  return { problems, ends: counts };
}

/** A person tries again where git finds the index or the branch locked. */
async function commitByPerson(repository: string, edit: () => void): Promise<string> {
  const git = gitIn(repository);
  for (let tries = 1; ; tries += 1) {
    try {
      edit();
      git('commit', '-q', '--allow-empty', '-am', 'by a person');
      return git('rev-parse', 'HEAD');
    } catch (error) {
      if (tries === 50) throw error;
      await sleep(50);
    }
  }
}

function runLand(
  { repository, home }: { readonly repository: string; readonly home: string },
  taskId: string,
  more: readonly string[],
  killAfterMs: number | null,
): Promise<LandEnd> {
  const child = spawn(process.execPath, [RALPH, 'land', taskId, ...more], {
    cwd: repository,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ...{ HOME: home, XDG_STATE_HOME: STATE_HOME, GIT_CONFIG_NOSYSTEM: '1' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const timer =
    killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => {
      clearTimeout(timer);
      resolve({ taskId, exitCode, said });
    });
  });
}

type Git = ReturnType<typeof gitIn>;

function isIn(git: Git, commit: string): boolean {
  try {
    git('merge-base', '--is-ancestor', commit, 'main');
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with the end of a landing by itself. */
function problemOf(end: LandEnd, git: Git): readonly string[] {
  const { taskId, exitCode, said } = end;
  const kind = kindOf(end);
  if (kind === 'unexpected') return [`ralph land ${taskId} ended with ${exitCode}: ${said}`];
  const commit = /has landed on main(?: already,)? as ([0-9a-f]{12})/.exec(said)?.[1];
  if (commit === undefined || isIn(git, commit)) return [];
  return [`${taskId} is said to have landed as ${commit}, which is not on the branch`];
}

/** What the landing said, in a word or two. */
function kindOf({ exitCode, said }: LandEnd): string {
  if (exitCode === null) return 'killed';
  if (exitCode === 0) {
    return / already/.test(said)
      ? 'already'
      : / has landed on /.test(said)
        ? 'landed'
        : 'unexpected';
  }
  const why = /nothing has changed: (?:its )?(.*)/.exec(said)?.[1] ?? '';
  if (exitCode !== 1 || why === '') return 'unexpected';
  const known = {
    conflict: /same lines/,
    checks: /check failed/,
    moved: /moved/,
    'in the way': /in the way/,
    locked: /lock|unable to write|Unable to create/i,
  };
  return Object.entries(known).find(([, words]) => words.test(why))?.[0] ?? 'unexpected';
}

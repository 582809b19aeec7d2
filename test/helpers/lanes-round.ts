import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seeded } from './fault-scene.ts';
import { gitIn, put } from './repository.ts';
import { STATE_HOME } from './state-home.ts';

/*
 * One round: four tasks work at once in one repository, each with two iterations in a work tree of its own, while
 * `git gc` runs and a person commits on another branch.
 */

const RALPH = fileURLToPath(new URL('../../bin/ralph.js', import.meta.url));
const LANES = ['one', 'two', 'three', 'four'] as const;
const ITERATIONS = 2;

/** Plays a round in an empty folder; resolves to what must not be. The seed decides what meets what. */
export async function playLanesRound(folder: string, seed: number): Promise<readonly string[]> {
  const random = seeded(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const [repository, home] = [join(folder, 'repo'), join(folder, 'home')];
  mkdirSync(home, { recursive: true });
  put(home, { '.gitconfig': '[user]\nname = Ada\nemail = ada@example.com\n' });
  put(repository, { 'a.txt': 'a\n', '.gitignore': '.ralph_state\n' });
  const git = gitIn(repository);
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');

  let isOver = false;
  const lanes = LANES.map(async (taskId) => {
    const pauses = [0, 1].map(() => (below(400) / 1_000).toFixed(3));
    await sleep(below(300));
    return runLane({ repository, home }, taskId, pauses);
  });
  const commits: string[] = [];
  const meanwhile = async (): Promise<void> => {
    while (!isOver) {
      await sleep(below(400));
      if (random() < 0.4) unlessDisturbed(() => git('gc', '--quiet'));
      else unlessDisturbed(() => commits.push(commitElsewhere(git, commits.length)));
    }
  };
  const others = meanwhile();
  const ends = await Promise.all(lanes);
  isOver = true;
  await others;

  const problems: string[] = [];
  for (const { taskId, exitCode, said } of ends) {
    // No branch where the task could not begin.
    const [branch] = git('branch', '--list', `ralph/${taskId}`).split('\n');
    const made = branch === '' ? '0' : git('rev-list', '--count', `main..ralph/${taskId}`);
    if (exitCode === 0 && made === String(ITERATIONS)) continue;
    problems.push(`${taskId} ended with ${exitCode} and ${made} commits: ${said}`);
  }
  const trees = git('worktree', 'list').split('\n').length;
  if (trees !== 1) problems.push(`there are ${trees} work trees`);
  const kept = git('rev-list', '--count', 'main..elsewhere');
  if (kept !== String(commits.length)) problems.push(`a person has ${kept} commits`);
  const damage = git('fsck', '--no-dangling');
  if (damage !== '') problems.push(`git fsck: ${damage}`);
  return problems;
}

/** Git gives up where it meets a lock, or a work tree that is half made; a person would try again. */
function unlessDisturbed(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!/lock|commondir|worktrees/.test(String(error))) throw error;
  }
}

/** A person commits on a branch that no task has. */
function commitElsewhere(git: ReturnType<typeof gitIn>, number: number): string {
  const parent = number === 0 ? 'main' : 'elsewhere';
  const id = git('commit-tree', '-p', parent, '-m', `mine ${number}`, 'main^{tree}');
  git('update-ref', 'refs/heads/elsewhere', id);
  return id;
}

interface LaneEnd {
  readonly taskId: string;
  readonly exitCode: number | null;
  readonly said: string;
}

function runLane(
  { repository, home }: { readonly repository: string; readonly home: string },
  taskId: string,
  pauses: readonly string[],
): Promise<LaneEnd> {
  // Stands in for an agent; its pauses let the lanes meet at other moments.
  const agent = [
    `i=$RALPH_ITERATION; set -- ${pauses.join(' ')}; shift $((i - 1)); sleep "$1"`,
    `echo "$i" > ${taskId}.$i`,
    `[ "$i" -lt ${ITERATIONS} ] && echo "Wrote $i." || echo TASK_COMPLETE`,
  ].join('; ');
  put(home, { [`${taskId}.sh`]: `${agent}\n` });
  const flags = ['--worktree', '--commit', '--task-id', taskId, '--prompt', 'x', '--delay', '0'];
  const command = ['--agent', 'command', '--agent-command', `sh ${join(home, `${taskId}.sh`)}`];
  const child = spawn(process.execPath, [RALPH, 'run', ...flags, ...command], {
    cwd: repository,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ...{ HOME: home, XDG_STATE_HOME: STATE_HOME, GIT_CONFIG_NOSYSTEM: '1' },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ taskId, exitCode, said }));
  });
}

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasBegun } from './fault-end.ts';
import { guardsOf } from './guard-of.ts';
import { livingIn } from './living-in.ts';
import { fixture, until } from './processes.ts';
import { answers, installReplayedClaude } from './replayed-claude.ts';
import { gitIn } from './repository.ts';
import { type RalphEnd, startRalph } from './run-ralph.ts';

/*
 * A task of three iterations that changes all kinds of files, an undo of it and a redo. In each play one
 * ralph or one of its gits is killed, and the same command is given again until all three are done:
 *
 *   run, resume … ──► undo 2 … ──► undo --redo …
 */

/** Where a play is disturbed. The numbers count from 1. */
export type KillPoint =
  /** At a call of git, of those that the command `step` makes. */
  | { readonly step: Step; readonly how: 'before' | 'after'; readonly call: number }
  /** As that git enters a system call; `both`: ralph as well. */
  | {
      readonly step: Step;
      readonly how: 'git' | 'both';
      readonly call: number;
      readonly syscall: string;
      readonly nth: number;
    }
  /** As ralph itself enters a system call. */
  | {
      readonly step: Step;
      readonly how: 'ralph';
      readonly syscall: string;
      readonly nth: number;
    }
  /** After so many ms, ralph alone or with its guard and its gits. */
  | { readonly step: Step; readonly how: 'alone' | 'all'; readonly ms: number };

export const STEPS = ['run', 'undo', 'redo'] as const;
type Step = (typeof STEPS)[number];

/** What a play came to. */
export interface KillPlay {
  readonly problems: readonly string[];
  /** Whether the point was reached. */
  readonly hit: boolean;
  /** The files at the end of each step, by path: how they are stored and their contents. */
  readonly trees: Readonly<Record<Step, string>>;
  /** How long each step took, in ms. */
  readonly durations: Readonly<Record<Step, number>>;
}

/** The system calls of git and of ralph at which they are killed. */
const GIT_SYSCALLS = ['rename', 'link', 'fsync', 'unlink'];
const OWN_SYSCALLS = ['rename', 'fsync'];

const MANY = 130;

/** What the agent does in each iteration; the same however often it is tried. */
const TURNS = [
  `rm -rf old; mkdir -p many; i=0; while [ $i -lt ${MANY} ]; do echo "line $i" > many/$i; i=$((i+1)); done
   printf 'a\\r\\nb\\r\\n' > crlf.txt; echo changed > tracked.txt; chmod +x tracked.txt`,
  `rm -rf swap; mkdir swap; echo inside > swap/file; rm -rf folder; echo 'now a file' > folder
   head -c 200000 /dev/zero | tr '\\0' 'x' > large.bin; ln -sfn tracked.txt link; rm -f many/7`,
  `echo third > new.txt; echo 'changed again' > tracked.txt; echo deep > swap/deep; rm -f crlf.txt`,
];

const FILES = {
  'tracked.txt': 'tracked\n',
  swap: 'a file\n',
  'folder/a': 'a\n',
  'folder/b/c': 'c\n',
  'old/x': 'x\n',
  '.gitignore': 'ignored\n',
  ignored: 'never kept\n',
};

interface Stage {
  readonly root: string;
  readonly folder: string;
  readonly home: string;
  readonly kills: string;
  /** What the agent has left at the end of each iteration: a line for each file. */
  readonly ends: string;
  readonly clone: string;
  readonly path: readonly string[];
}

/** Builds the repository, its clone, the agent and the `git` that can be killed. */
function prepare(root: string): Stage {
  const [folder, home, kills, bin] = ['work', 'home', 'kills', 'bin'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const each of [folder, home, kills, bin]) mkdirSync(each, { recursive: true });
  const git = gitIn(folder);
  git('init', '-q');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  git('add', '--all');
  git('commit', '-q', '-m', 'first');
  writeFileSync(join(folder, 'untracked.txt'), 'untracked\n');
  const clone = join(root, 'clone');
  git('clone', '-q', folder, clone);
  gitIn(clone)('commit', '-q', '--allow-empty', '-m', 'from elsewhere');
  const ends = join(root, 'ends');
  const list = `find . -path ./.git -prune -o -path ./.ralph_state -prune -o -type f ! -name ignored -print | sort`;
  // As git would name them, with no conversion.
  const note = `${list} > '${root}/names'; /usr/bin/git hash-object --no-filters --stdin-paths < '${root}/names' | paste -d ' ' - '${root}/names' >> '${ends}'`;
  writeFileSync(ends, '');
  const turns = TURNS.map((work, index) => {
    const words = index === TURNS.length - 1 ? 'All done.\n\nTASK_COMPLETE' : 'Not yet.';
    return answers(words, `${work}\n${note}`);
  });
  const claude = installReplayedClaude(join(root, 'agent'), turns);
  symlinkSync(fixture('killed-git.sh'), join(bin, 'git'));
  return { root, folder, home, kills, ends, clone, path: [bin, claude.dir] };
}

const COMMANDS: Readonly<Record<Step, readonly string[]>> = {
  run: [
    ...['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0', '--no-progress-limit', '0'],
    ...['--claude-bin', 'claude'],
  ],
  undo: ['undo', 't', '2', '--yes'],
  redo: ['undo', 't', '--redo', '--yes'],
};

/** Plays it all, disturbed at one point or at none, and checks that nothing is lost. */
export async function playSnapshotKills(root: string, point: KillPoint | null): Promise<KillPlay> {
  const stage = prepare(root);
  const before = unmovedOf(stage);
  const problems: string[] = [];
  const trees: Partial<Record<Step, string>> = {};
  const durations: Partial<Record<Step, number>> = {};
  let hit = false;
  for (const step of STEPS) {
    let death = point?.step === step ? point : null;
    for (let tries = 0; ; tries += 1) {
      const end = await command(stage, step, death, tries > 0);
      if (death !== null) hit = wasHit(stage, end, death);
      if (/bug in ralph|TypeError|ReferenceError/.test(end.stderr)) problems.push(end.stderr);
      const what = `${step}, try ${tries + 1}`;
      problems.push(...lostBytes(stage).map((each) => `${what}: ${each}`));
      if (unmovedOf(stage) !== before) problems.push(`${what}: HEAD or the index has changed`);
      problems.push(...(await unsound(stage)).map((each) => `${what}: ${each}`));
      // A redo that was done when it was killed leaves nothing to redo.
      const isDone = step === 'redo' && tries > 0 && /newest undo/.test(end.stderr);
      if (end.exitCode === 0 || isDone) {
        durations[step] = end.durationMs;
        break;
      }
      if (death === null || tries > 3) {
        problems.push(`${what}: exit code ${end.exitCode}\n${end.stdout}\n${end.stderr}`);
        if (tries > 3) break;
      }
      death = null;
    }
    if (hit || point === null)
      problems.push(...locksOf(stage).map((lock) => `${step}: ${lock} is left`));
    trees[step] = treeOf(stage.folder);
  }
  problems.push(...usable(stage));
  problems.push(...lostBytes(stage).map((each) => `after gc: ${each}`));
  return {
    problems,
    hit,
    trees: { run: '', undo: '', redo: '', ...trees },
    durations: { run: 0, undo: 0, redo: 0, ...durations },
  };
}

/** What is otherwise than in a play that nothing disturbed. */
export function comparePlays(play: KillPlay, expected: KillPlay): readonly string[] {
  const { trees } = play;
  const found = [...play.problems];
  for (const step of STEPS) {
    if (trees[step] === expected.trees[step]) continue;
    found.push(
      `the files after ${step} are others: ${difference(trees[step], expected.trees[step])}`,
    );
  }
  return found;
}

function difference(found: string, expected: string): string {
  const [one, other] = [found, expected].map((tree) => new Set(tree.split('\n')));
  const more = [...(one ?? [])].filter((line) => other?.has(line) !== true);
  const less = [...(other ?? [])].filter((line) => one?.has(line) !== true);
  return `${more.join(', ')} rather than ${less.join(', ')}`;
}

async function command(
  { root, folder, home, kills, path }: Stage,
  step: Step,
  point: KillPoint | null,
  isAgain: boolean,
): Promise<RalphEnd & { readonly pid: number }> {
  for (const name of ['calls', 'hit']) writeFileSync(join(kills, name), '');
  const env: Record<string, string> = {
    KILL_DIR: kills,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  if (point !== null && 'call' in point) {
    Object.assign(env, { KILL_CALL: String(point.call), KILL_HOW: point.how });
    if ('syscall' in point) {
      Object.assign(env, { KILL_SYSCALL: point.syscall, KILL_NTH: String(point.nth) });
    }
  }
  const isToResume = step === 'run' && isAgain && hasBegun(folder);
  const words = isToResume ? ['resume', 't'] : COMMANDS[step];
  const under = point?.how === 'ralph' ? killedAt(root, point) : [];
  const options = { path, cwd: folder, home, env, under };
  const ralph = await startRalph(words, options);
  if (point !== null && 'ms' in point) {
    const timer = setTimeout(() => killNow(ralph.pid, point.how === 'all' ? home : null), point.ms);
    ralph.ended.finally(() => clearTimeout(timer)).catch(() => {});
  }
  const end = await ralph.ended;
  await until(
    () => [...livingIn(home), ...guardsOf(ralph.pid)].length === 0,
    () => `the death of ${JSON.stringify(livingIn(home))}`,
  );
  return { ...end, pid: ralph.pid };
}

/** Words before a command by which the main thread of it dies. */
function killedAt(root: string, { syscall, nth }: { syscall: string; nth: number }) {
  const what = `${syscall}:signal=SIGKILL:when=${nth}`;
  const log = join(root, 'ralph-calls');
  return [
    'strace',
    '-qq',
    '-o',
    log,
    '-e',
    'signal=none',
    '-e',
    `trace=${syscall}`,
    '-e',
    `inject=${what}`,
  ];
}

function killNow(pid: number, home: string | null): void {
  const gits = home === null ? [] : livingIn(home).map((each) => each.pid);
  const guards = home === null ? [] : guardsOf(pid);
  for (const each of [...guards, pid, ...gits]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has come to its end by itself.
    }
  }
}

function wasHit({ kills }: Stage, { exitCode, signal }: RalphEnd, point: KillPoint): boolean {
  if ('call' in point)
    return (
      existsSync(join(kills, 'hit')) &&
      readFileSync(join(kills, 'calls'), 'utf8').split('\n').length > point.call
    );
  return signal !== null || exitCode !== 0;
}

/** Files of an iteration's end that are neither in a snapshot nor in the work tree. */
function lostBytes({ folder, ends }: Stage): readonly string[] {
  const git = gitIn(folder);
  const kept = new Set<string>();
  const refs = git('for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n').filter(Boolean);
  for (const ref of refs) {
    for (const line of git('ls-tree', '-r', ref).split('\n')) {
      const found = /^\d+ blob (\w+)\t(.+)$/.exec(line);
      if (found !== null) kept.add(`${found[1]} ${found[2]}`);
    }
  }
  const lost: string[] = [];
  for (const line of new Set(readFileSync(ends, 'utf8').split('\n'))) {
    const found = /^(\w{40}) \.\/(.+)$/.exec(line);
    if (found === null) continue;
    const [, id = '', name = ''] = found;
    if (blobIdOf(join(folder, name)) === id || kept.has(`${id} ${name}`)) continue;
    lost.push(`${name} of an iteration's end is lost`);
  }
  return lost;
}

/** How git names the bytes of a file; null if there is none. */
function blobIdOf(file: string): string | null {
  try {
    const bytes = readFileSync(file);
    return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  } catch {
    return null;
  }
}

/** HEAD and the index, which nobody but the user may move. */
function unmovedOf({ folder }: Stage): string {
  const git = join(folder, '.git');
  return ['HEAD', 'index', 'refs/heads/main', 'logs/HEAD', 'config']
    .map((name) => blobIdOf(join(git, name)))
    .join(' ');
}

async function unsound({ folder }: Stage): Promise<readonly string[]> {
  try {
    const said = gitIn(folder)('fsck', '--strict', '--no-dangling');
    return said === '' ? [] : [`git fsck: ${said}`];
  } catch (error) {
    return [`git fsck: ${error instanceof Error ? error.message : error}`];
  }
}

/** Whether the user's own git can still clean up and fetch. */
function usable({ folder, clone }: Stage): readonly string[] {
  const problems: string[] = [];
  for (const args of [
    ['fetch', '-q', clone, 'main'],
    ['gc', '-q'],
    ['gc', '-q', '--prune=now'],
    ['fsck', '--strict', '--no-dangling'],
  ]) {
    try {
      const said = gitIn(folder)(...args);
      if (said !== '') problems.push(`git ${args.join(' ')}: ${said}`);
    } catch (error) {
      problems.push(`git ${args.join(' ')}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return problems;
}

/** Lock files below the repository and ralph's own git folder. */
function locksOf({ folder }: Stage): readonly string[] {
  return ['.git', '.ralph_state'].flatMap((name) =>
    namesBelow(join(folder, name)).filter(
      (file) => file.endsWith('.lock') || /\.ralph-\d+\.tmp$|\/git\/(?:restore|index-)/.test(file),
    ),
  );
}

function namesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = join(folder, entry.name);
    return entry.isDirectory() ? namesBelow(place) : [place];
  });
}

/** The files of the work tree in one text: each with its kind, its executable bit and its contents. */
function treeOf(folder: string, prefix = ''): string {
  const lines = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const name = `${prefix}${entry.name}`;
    const place = join(folder, entry.name);
    if (name === '.git' || name === '.ralph_state') return '';
    if (entry.isDirectory()) return treeOf(place, `${name}/`);
    if (entry.isSymbolicLink()) return `link ${readlinkSync(place)} ${name}\n`;
    return `file ${blobIdOf(place)} ${name}\n`;
  });
  return lines.sort().join('');
}

/** Finds all points, in a play that is traced and otherwise undisturbed. */
export async function findKillPoints(root: string): Promise<readonly KillPoint[]> {
  const stage = prepare(root);
  const points: KillPoint[] = [];
  for (const step of STEPS) {
    writeFileSync(join(stage.kills, 'calls'), '');
    const log = join(root, `ralph-${step}`);
    const under = [
      'strace',
      '-qq',
      '-s',
      '0',
      '-o',
      log,
      '-e',
      'signal=none',
      '-e',
      `trace=${OWN_SYSCALLS}`,
    ];
    const env = {
      KILL_DIR: stage.kills,
      KILL_TRACE: GIT_SYSCALLS.join(','),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    };
    const { path, folder: cwd, home } = stage;
    const ralph = await startRalph(COMMANDS[step], {
      path,
      cwd,
      home,
      env,
      under,
    });
    const { exitCode, stderr } = await ralph.ended;
    if (exitCode !== 0) throw new Error(`${step} fails: ${stderr}`);
    const calls = readFileSync(join(stage.kills, 'calls'), 'utf8').split('\n').length - 1;
    for (let call = 1; call <= calls; call += 1) {
      points.push({ step, how: 'before', call }, { step, how: 'after', call });
      const trace = readOr(join(stage.kills, `trace-${call}`));
      for (const syscall of GIT_SYSCALLS) {
        const count = trace.split('\n').filter((line) => line.includes(` ${syscall}(`)).length;
        for (let nth = 1; nth <= count; nth += 1) {
          for (const how of ['git', 'both'] as const)
            points.push({ step, how, call, syscall, nth });
        }
      }
    }
    for (const syscall of OWN_SYSCALLS) {
      const count = readOr(log)
        .split('\n')
        .filter((line) => line.startsWith(`${syscall}(`)).length;
      for (let nth = 1; nth <= count; nth += 1) points.push({ step, how: 'ralph', syscall, nth });
    }
  }
  return points;
}

function readOr(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

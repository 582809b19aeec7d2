import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { untouched } from '../helpers/exams.ts';
import { until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A driver that is killed while a checkout stands: what is the user's stays as it is, and a resume goes on.

const CLAIM = 'All good.\n\nTASK_COMPLETE';

/** Everything that neither checkout may touch: work tree, index, HEAD, refs and the list of work trees. */
function own({ folder }: Scene) {
  const { files, trees } = untouched(folder);
  const kept = Object.entries(files).filter(
    ([name]) => !/^(?:\.ralph_state|Needs_Action|\.git\/ralph)\//.test(name),
  );
  return { files: Object.fromEntries(kept), trees };
}

test.for<[what: string, args: readonly string[], exitCode: number]>([
  ['an old exam', ['--proof', 'hold'], 5],
  ['a clean checkout', ['--verify-clean', '--accept-changed', 'check.sh'], 0],
])('kill -9 in the middle of %s', async ([what, args, exitCode]) => {
  const scene = await makeScene({ text: CLAIM, shell: 'echo "true" > judge.sh' });
  const place = dirname(scene.folder);
  const [sign, gate] = [join(place, 'sign'), join(place, 'gate')];
  // In a checkout it says that it runs, and waits until it may end.
  const wait = `case $PWD in *.ralph/*) if [ -p ${gate} ]; then echo $$ > ${sign}; read -r x < ${gate}; fi ;; esac`;
  const files = {
    '.gitignore': '.ralph_state\nNeeds_Action\nout\n',
    'judge.sh': 'grep -q fixed src.txt\n',
    'src.txt': 'broken\n',
    'out/built': 'ignored\n',
  };
  for (const [name, text] of Object.entries(files)) await scene.write(name, text);
  scene.makeRepository();
  execFileSync('mkfifo', [gate]);
  const run = await scene.start([
    ...['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't', ...args],
    ...['--no-baseline', '--verify', `${wait}; sh judge.sh`],
  ]);
  await until(
    () => existsSync(sign),
    () => `a check in ${what}; ralph says ${run.stderr()}`,
  );
  const before = own(scene);
  process.kill(run.pid, 'SIGKILL');
  await run.ended;
  // The check may have gone on without its driver. Opened like this, nobody has to read it.
  const end = openSync(gate, 'r+');
  writeSync(end, 'go\n');
  closeSync(end);
  rmSync(gate);
  expect(own(scene)).toEqual(before);
  expect(before.trees.match(/^worktree /gm)).toHaveLength(1);

  const resumed = await scene.ralph(['resume', 't', '--delay', '0']);
  expect(resumed.exitCode, resumed.stderr).toBe(exitCode);
  expect(own(scene)).toEqual(before);
  expect(readdirSync(place).filter((name) => name.endsWith('.ralph'))).toEqual([]);
});

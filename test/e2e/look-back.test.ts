import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

/** A task in a git work tree, with one line added by its first iteration and two by its second. */
async function worked(args: readonly string[] = []) {
  const scene = await makeScene([
    { text: 'Begun.', shell: 'echo one >>notes.txt' },
    { text: 'Whole.\n\n<promise>TASK_COMPLETE</promise>', shell: 'printf "2\\n3\\n" >more.txt' },
  ]);
  await scene.write('notes.txt', 'zero\n');
  scene.makeRepository();
  const end = await scene.run(args);
  expect(end.exitCode).toBe(0);
  return { scene, ...end };
}

describe('what a person sees of the changes of a task', () => {
  test('the last lines tell what changed, and name the commands for it', async () => {
    const { scene, stderr } = await worked();
    expect(stderr).toContain('iteration 1 answered');
    expect(stderr).toMatch(/iteration 1 answered in .*, 1 file changed/);
    expect(stderr).toContain('ralph: changed: more.txt, notes.txt (+3 -0)\n');
    expect(stderr).toContain('ralph: look: ralph diff t\nralph: undo: ralph undo t\n');
    expect(scene.journal().at(-1)).toMatchObject({
      changes: { commits: 0, files: 2, lines: { added: 3, removed: 0 } },
      git: { snapshots: expect.stringMatching('refs/ralph/t@'), work_tree: null },
    });
  });

  test('ralph status and the page of ralph report name them, too', async () => {
    const { scene } = await worked();
    const { stdout } = await scene.ralph(['status', 't']);
    expect(stdout).toContain('look        ralph diff t\nundo        ralph undo t\n');
    const page = join(scene.home, 'report.html');
    await scene.ralph(['report', '--html', page]);
    expect(readFileSync(page, 'utf8')).toContain(
      `<code>cd ${scene.folder} &amp;&amp; ralph diff t</code>`,
    );
  });

  test('without snapshots none of it is there', async () => {
    const { scene, stderr } = await worked(['--no-snapshots']);
    expect(stderr).not.toContain('ralph: changed:');
    const { stdout: status } = await scene.ralph(['status', 't']);
    const { stdout: report } = await scene.ralph(['report']);
    expect(`${stderr}${status}${report}`).not.toMatch(/ralph (undo|diff)/);
  });

  test('no command is named for a task that another hand wrote', async () => {
    const { scene } = await worked();
    const file = join(scene.folder, '.ralph_state/history/t.json');
    const state = JSON.parse(readFileSync(file, 'utf8'));
    const work_tree = {
      ...{ path: scene.folder, origin: scene.folder },
      ...{ branch: 'b\u001b[31m\nforged', base: 'abc', onto: 'main' },
    };
    const git = { ...state.git, work_tree };
    writeFileSync(file, JSON.stringify({ ...state, git }));
    const { stdout } = await scene.ralph(['status', 't']);
    expect(stdout).toMatch(/^trust +not written by you here/m);
    expect(stdout).not.toMatch(/ralph (undo|diff|land)|forged/);
  });
});

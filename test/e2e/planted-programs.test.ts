import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';

const DONE = { text: '<promise>TASK_COMPLETE</promise>' };

/** What an agent can plant for the next git that somebody starts in the tree. */
const PLANTED = {
  'a nested repository with a file watcher': `
    git init -q nested; cd nested; git config core.fsmonitor "touch $RAN; :"; git config core.hooksPath hooks
    mkdir hooks; printf '#!/bin/sh\\ntouch "$RAN"\\n' > hooks/post-checkout; cp hooks/post-checkout hooks/post-index-change
    chmod +x hooks/*; touch x; git -c core.fsmonitor=false -c core.hooksPath= add x; git -c core.fsmonitor=false -c core.hooksPath= commit -qm x`,
  'a submodule': `
    git init -q sub; git -C sub commit -qm x --allow-empty; git add sub; git -C sub config core.fsmonitor "touch $RAN; :"
    git -C sub config filter.x.clean "touch $RAN; cat"; echo '* filter=x' > sub/.gitattributes; echo x > sub/y`,
  'a file watcher and hooks': `
    for each in post-index-change post-checkout reference-transaction pre-commit post-merge pre-auto-gc; do
      printf '#!/bin/sh\\ntouch "$RAN"\\n' > .git/hooks/$each; chmod +x .git/hooks/$each
    done
    git config core.fsmonitor "touch $RAN; :"`,
  // Git knows these from 2.54 on, and lets them be turned off from 2.55 on.
  'hooks in the settings': `
    git config hook.own.command "touch $RAN"
    for each in post-index-change post-checkout reference-transaction pre-commit post-merge pre-auto-gc; do
      git config --add hook.own.event $each
    done`,
  'a filter': `
    git config filter.x.clean "touch $RAN; cat"; git config filter.x.process "touch $RAN"
    echo '*.txt filter=x' > .gitattributes; echo x >> a.txt`,
  'a git first on PATH': `
    mkdir -p node_modules/.bin; printf '#!/bin/sh\\ntouch "$RAN"\\n' > node_modules/.bin/git
    chmod +x node_modules/.bin/git; echo x >> a.txt`,
};

test.for(Object.entries(PLANTED))(
  'ralph runs nothing of what an agent plants: %s',
  async ([, script]) => {
    const scene = await makeScene([{ ...DONE, shell: script }, DONE]);
    await scene.write('a.txt', 'a\n');
    scene.makeRepository();
    const ran = join(scene.home, 'ran');
    const path = [join(scene.folder, 'node_modules', '.bin'), scene.fake.dir];
    const options = { path, env: { RAN: ran } };
    const first = await scene.run(['--verify', 'true', '--verify-clean'], options);
    expect(first.exitCode).toBe(0);
    for (const args of [
      ['diff', 't'],
      ['snapshots', 't'],
      ['report'],
      ['undo', 't', '--yes', '--force'],
      ['undo', 't', '--redo', '--yes', '--force'],
      ['proof', 't', '--again'],
    ]) {
      await scene.ralph(args, options);
    }
    const again = await scene.run(['--task-id', 'u', '--worktree', '--verify', 'true'], options);
    expect(again.exitCode).toBe(0);
    expect(existsSync(ran)).toBe(false);
  },
);

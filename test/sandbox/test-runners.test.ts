import { realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inSandbox, outside, sandboxScene } from '../helpers/sandbox-scene.ts';

const MODULES = realpathSync(new URL('../../node_modules', import.meta.url));

/** Small projects, each with the command of its test runner. */
const RUNNERS = {
  node: {
    files: `echo "require('node:test').test('a', () => {})" > a.test.js`,
    command: `'${process.execPath}' --test a.test.js`,
  },
  vitest: {
    files: `mkdir web; ln -s '${MODULES}' web/node_modules; echo "import { test } from 'vitest'; test('a', () => {})" > web/a.test.js`,
    command: `cd web && '${process.execPath}' node_modules/vitest/vitest.mjs run`,
  },
  pytest: {
    files:
      'mkdir py; echo "def test_a(tmp_path): (tmp_path / \\"x\\").write_text(\\"x\\")" > py/test_a.py',
    command: '/usr/bin/pytest -q py',
  },
  cargo: {
    files: 'cargo init -q --lib --vcs none small',
    command: 'cargo test -q --offline --manifest-path small/Cargo.toml',
  },
};

test.for(Object.entries(RUNNERS))(
  '%s passes inside as it does outside',
  async ([, each], context) => {
    const scene = await sandboxScene();
    await outside(scene, each.files);
    if (each === RUNNERS.vitest) {
      const seen = await outside(scene, `test -r '${MODULES}/vitest' && echo seen || echo hidden`);
      if (seen !== 'seen\n')
        return context.skip('the user of the tests may not read this checkout');
    }
    await outside(scene, each.command);
    const { ran } = await inSandbox(scene, { scripts: [{ script: each.command, as: 'check' }] });
    expect(ran[0]).toMatchObject({ code: 0 });
  },
);

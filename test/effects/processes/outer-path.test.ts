import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { outerPath } from '../../../src/effects/processes/outer-path.ts';

test('a folder behind a link of the agent is named itself, since the link may lead elsewhere later', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-path-')));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const [work, shared] = [join(base, 'work'), join(base, 'shared')];
  mkdirSync(join(work, 'own'), { recursive: true });
  mkdirSync(join(shared, '.bin'), { recursive: true });
  symlinkSync(shared, join(work, 'node_modules'));
  symlinkSync(join(work, 'own'), join(base, 'link'));
  const PATH = [join(work, 'node_modules', '.bin'), join(base, 'link'), 'own', '', '/usr'].join(
    ':',
  );
  expect(outerPath({ PATH }, [work])).toBe(`${shared}/.bin:/usr`);
});

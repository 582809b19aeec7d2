import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

// What npm makes of package.json.

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Whether a file of the package is what a link in one of its documents names, or lies in it. */
function isBelow(path = '', document = '', link = ''): boolean {
  const target = posix.join(posix.dirname(document), link).replace(/\/$/, '');
  return path === target || path.startsWith(`${target}/`);
}

describe('the package', () => {
  test('runs nothing when it is installed, and has what its documents name', async () => {
    // npm runs these scripts of a package, and one of its own where there is a binding.gyp.
    const atInstall = ['preinstall', 'install', 'postinstall'];
    expect(Object.keys(MANIFEST.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
    expect(Object.keys(MANIFEST.dependencies ?? {})).toEqual([]);
    const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'];
    const { stdout } = await run('npm', words, { cwd: ROOT });
    const paths = [...stdout.matchAll(/"path": "(.+)"/g)].map(([, path]) => path);
    expect(paths).toContain('docs/fleet.sql');
    expect(paths.filter((path) => path?.endsWith('.gyp'))).toEqual([]);
    const documents = paths.filter((path) => /^(?:docs\/[\w-]+|[A-Z]+)\.md$/.test(path ?? ''));
    expect(documents.length).toBeGreaterThan(15);
    // What a link names is there by another test, and here too. CONTRIBUTING.md is for a checkout.
    for (const document of documents.filter((each) => each !== 'CONTRIBUTING.md')) {
      const text = readFileSync(join(ROOT, document ?? ''), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)) {
        expect({
          document,
          link,
          has: paths.filter((path) => isBelow(path, document, link)).length > 0,
        }).toEqual({
          ...{ document, link, has: true },
        });
      }
    }
  });

  test('starts with a small script, since every command waits for it', () => {
    expect(statSync(join(ROOT, 'dist', 'main.cjs')).size).toBeLessThan(20_000);
  });

  test('is published with its provenance, and not before it names its repository', async () => {
    expect(MANIFEST.publishConfig).toEqual({ provenance: true });
    expect(MANIFEST.scripts.prepublishOnly).toMatch(/^node scripts\/before-publish\.js && /);
    const cwd = await tempFolder();
    const script = join(ROOT, 'scripts', 'before-publish.js');
    const asked = async (manifest: object) => {
      await writeFile(join(cwd, 'package.json'), JSON.stringify(manifest));
      return run(process.execPath, [script], { cwd }).catch((error: unknown) => error);
    };
    expect(await asked({ homepage: 'h' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^package\.json lacks repository, bugs: .+\.\n$/),
    });
    const whole = { repository: 'r', bugs: 'b', homepage: 'h' };
    expect(await asked(whole)).toEqual({ stdout: '', stderr: '' });
  });
});

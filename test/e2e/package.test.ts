import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { headings } from '../helpers/headings.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What npm makes of package.json, installed in a project.

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

let project = '';
let packed = '';

// Packed once, since it takes seconds: unpacked, it is what npm installs.
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'ralph-test-'));
  packed = join(project, 'node_modules', 'ralph-headless');
  const words = ['pack', '--ignore-scripts', '--offline', '--pack-destination', project];
  await run('npm', words, { cwd: ROOT });
  const archive = readdirSync(project).find((name) => name.endsWith('.tgz')) ?? '';
  await mkdir(packed, { recursive: true });
  await run('tar', ['-xzf', join(project, archive), '-C', packed, '--strip-components=1']);
});

afterAll(() => rm(project, { recursive: true, force: true }));

describe('the package', () => {
  test('runs nothing when it is installed', () => {
    // npm runs these scripts of a package, and one of its own where there is a binding.gyp.
    const atInstall = ['preinstall', 'install', 'postinstall'];
    expect(Object.keys(MANIFEST.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
    expect(Object.keys(MANIFEST.dependencies ?? {})).toEqual([]);
    expect(readdirSync(packed).filter((name) => name.endsWith('.gyp'))).toEqual([]);
  });

  test('has what the links of its documents lead to, anchors included', () => {
    expect(existsSync(join(packed, 'docs', 'fleet.sql'))).toBe(true);
    // CONTRIBUTING.md is for a checkout.
    const documents = documentsIn(packed).filter((name) => name !== 'CONTRIBUTING.md');
    expect(documents.length).toBeGreaterThan(15);
    const dead = documents.flatMap((document) =>
      linksOf(join(packed, document))
        .filter((link) => !leads(join(packed, document), link))
        .map((link) => `${document}: ${link}`),
    );
    expect(dead).toEqual([]);
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

describe('its types', () => {
  test('compile in a strict project, with each ts block of its documents', () => {
    const blocks = documentsIn(packed).flatMap((name) =>
      [...readFileSync(join(packed, name), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
        ([, text = ''], at): [string, string] => [
          `${name.replace(/\W/g, '-')}-${at + 1}.ts`,
          // A block of its own, whose names meet no other one's.
          `${text}\nexport {};\n`,
        ],
      ),
    );
    expect(blocks.map(([name]) => name)).toContain('docs-library-md-1.ts');
    expect(compile(Object.fromEntries(blocks))).toBe('');
  });

  test.for([
    ['setting-options', 'SettingOptions', 60],
    ['run-task-options', 'RunTaskOptions', 8],
    ['run-task', 'RunTaskResult', 10],
  ] as const)('of %s say what each field of %s is for', ([file, name, least]) => {
    const text = readFileSync(join(packed, `dist/types/service/${file}.d.ts`), 'utf8');
    const [, body = ''] =
      new RegExp(`interface ${name}\\b.*?\\{\\n(.*?)^\\}`, 'ms').exec(text) ?? [];
    const lines = body.split('\n');
    const fields = lines.flatMap((line, at) =>
      /^ {4}readonly \w+/.test(line) ? [{ line, before: lines[at - 1] ?? '' }] : [],
    );
    expect(fields.length).toBeGreaterThanOrEqual(least);
    expect(fields.filter(({ before }) => !before.endsWith('*/')).map(({ line }) => line)).toEqual(
      [],
    );
  });
});

/** Compiles files as a strict project would that has installed the package; what the compiler says. */
function compile(files: Readonly<Record<string, string>>): string {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2023', module: 'nodenext', skipLibCheck: false },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules', '@types')] },
  };
  const written = {
    ...files,
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: Object.keys(files) }),
  };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(project, name), text);
  try {
    return execFileSync(process.execPath, [TSC, '-p', project], { cwd: project, encoding: 'utf8' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

/** The names of the documents in a folder and in its `docs`. */
function documentsIn(folder: string): readonly string[] {
  const inDocs = readdirSync(join(folder, 'docs')).map((name) => join('docs', name));
  return [...readdirSync(folder), ...inDocs].filter((name) => name.endsWith('.md'));
}

/** The links of a document that name a file or a heading. */
function linksOf(document: string): readonly string[] {
  const text = readFileSync(document, 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** Whether what a link of a document names is there. */
function leads(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || headings(readFileSync(target, 'utf8')).includes(anchor);
}

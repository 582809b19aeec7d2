import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

/** Compiles files as a user's strict project would that has installed this package; what the compiler says. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder();
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2023', module: 'nodenext', skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules', '@types')] },
    paths: { 'ralph-headless': [join(ROOT, 'dist', 'types', 'index.d.ts')] },
  };
  const project = { compilerOptions, files: Object.keys(files) };
  const written = { ...files, 'package.json': '{"type":"module"}' };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  try {
    return execFileSync(process.execPath, [TSC, '-p', folder], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

test('the TypeScript of the README and of docs/ compiles', async () => {
  const names = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const documents = ['README.md', ...names.map((name) => join('docs', name))];
  const blocks = documents.flatMap((name) =>
    [...readFileSync(join(ROOT, name), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
      ([, text = ''], at): [string, string] => [
        `${name.replace(/\W/g, '-')}-${at + 1}.ts`,
        // A block of its own, whose names meet no other one's.
        `${text}\nexport {};\n`,
      ],
    ),
  );
  expect(blocks.map(([name]) => name)).toContain('README-md-1.ts');
  expect(await compile(Object.fromEntries(blocks))).toBe('');
});

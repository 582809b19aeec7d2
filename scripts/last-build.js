// What the last build was made of, kept beside the packages: with that, tests do not build again what is there.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTE = join('node_modules', '.cache', 'ralph-build.json');
/** Beside the sources: the version, the build itself, and which packages are installed. */
const OTHERS = [
  'package.json',
  'tsconfig.json',
  'scripts/build.js',
  'scripts/option-types.ts',
  'scripts/tsconfig.types.json',
  'node_modules/.package-lock.json',
];

/** Returns one sum of everything that a build is made of. */
export async function sumOfInputs(folder = root) {
  const sources = await readdir(join(folder, 'src'), { recursive: true, withFileTypes: true });
  const files = sources
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const all = [...files.sort(), ...OTHERS.map((name) => join(folder, name))];
  const texts = await Promise.all(all.map((file) => readFile(file).catch(() => 'none')));
  const sum = createHash('sha256');
  for (const [index, text] of texts.entries()) {
    sum.update(`${all[index]}\0${text.length}\0`).update(text);
  }
  return sum.digest('hex');
}

/**
 * Notes what was built.
 * @param {string} sum
 * @param {readonly { path: string, text: string }[]} files
 */
export async function noteBuild(sum, files, folder = root) {
  // Without packages of its own, a checkout runs no tests.
  if (!existsSync(join(folder, 'node_modules'))) return;
  const note = join(folder, NOTE);
  await mkdir(dirname(note), { recursive: true });
  const sizes = files.map(({ path, text }) => [path, Buffer.byteLength(text)]);
  await writeFile(note, JSON.stringify({ sum, sizes }));
}

/** Whether what is in dist/ was made of what is there now. */
export async function isBuilt(folder = root) {
  const text = await readFile(join(folder, NOTE), 'utf8').catch(() => null);
  if (text === null) return false;
  /** @type {{ sum: string, sizes: [path: string, bytes: number][] }} */
  const { sum, sizes } = JSON.parse(text);
  if (sum !== (await sumOfInputs(folder))) return false;
  const found = await Promise.all(sizes.map(([path]) => stat(path).catch(() => null)));
  return sizes.every(([, bytes], index) => found[index]?.size === bytes);
}

// Lets a script import the TypeScript of this checkout as it stands, which Node 20 cannot.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from 'esbuild';

// Loaded once by the script, and once more by Node in the thread that loads modules.
if (isMainThread) register(import.meta.url);

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), { loader: 'ts' });
  return { format: 'module', source: code, shortCircuit: true };
}

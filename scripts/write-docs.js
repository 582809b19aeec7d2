// Fills the tables in the documents, and the types of the library's options, from the code: npm run docs.
// Tests hold them to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} name */
async function load(name) {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'scripts', name)],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const source = outputFiles[0]?.text ?? '';
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}

const { DOCUMENTS, withTables } = await load('settings-doc.ts');
for (const name of DOCUMENTS) {
  const file = join(root, name);
  const text = withTables(readFileSync(file, 'utf8'), (/** @type {string} */ path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  writeFileSync(file, text);
}

const { optionTypes } = await load('option-types.ts');
writeFileSync(join(root, 'src', 'service', 'setting-options.ts'), optionTypes());

// Fills the tables in the documents from the code: npm run docs. A test holds them to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { outputFiles } = await build({
  entryPoints: [join(root, 'scripts', 'settings-doc.ts')],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const source = outputFiles[0]?.text ?? '';
const { DOCUMENTS, withTables } = await import(
  `data:text/javascript,${encodeURIComponent(source)}`
);
for (const name of DOCUMENTS) {
  const file = join(root, name);
  const text = withTables(readFileSync(file, 'utf8'), (/** @type {string} */ path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  writeFileSync(file, text);
}

// Fills the tables in the documents from the code: npm run docs. Tests hold them to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadScript } from './load-script.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const { DOCUMENTS, withTables } = await loadScript('settings-doc.ts');
for (const name of DOCUMENTS) {
  const file = join(root, name);
  const text = withTables(readFileSync(file, 'utf8'), (/** @type {string} */ path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  writeFileSync(file, text);
}

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Loads a script in TypeScript that lies beside this file, with what it imports of the source.
 * @param {string} name
 */
export async function loadScript(name) {
  const { outputFiles } = await build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), name)],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const source = outputFiles[0]?.text ?? '';
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}

import { accessSync, constants, realpathSync } from 'node:fs';
import path from 'node:path';
import { ifPossible } from '../../effects/files/if-possible.ts';
import { upward } from '../../effects/files/upward.ts';
import { shellQuote } from '../../printed-command.ts';

const PACKAGE = 'ralph-headless';

interface Started {
  /** The script that node was given: `process.argv[1]`. */
  readonly script: string;
  readonly folder: string;
  /** The value of `PATH`. */
  readonly path: string;
}

/**
 * Returns the words that start this program again. Folders `node_modules/.bin` on PATH do not count: npx and npm
 * scripts put them first, and the person's own shell does not have them.
 */
export function ownProgram({ script, folder, path: search }: Started): string {
  const own = real(script);
  if (own === null) return 'ralph';
  const onPath = search
    .split(path.delimiter)
    .filter((each) => path.isAbsolute(each) && !each.endsWith(path.join('node_modules', '.bin')))
    .map((each) => path.join(each, 'ralph'))
    .find(isProgram);
  if (onPath !== undefined && real(onPath) === own) return 'ralph';
  // The script is `bin/ralph.js` in the folder of its package.
  const root = path.dirname(path.dirname(own));
  const isHere = upward(folder).some(
    (each) => each === root || real(path.join(each, 'node_modules', PACKAGE)) === root,
  );
  if (isHere) return 'npx ralph';
  // In a checkout, npx would fetch another program than this one, so the script itself is named.
  const isInstalled = own.split(path.sep).includes('node_modules');
  return isInstalled ? `npx --package ${PACKAGE} ralph` : `node ${shellQuote(own)}`;
}

function isProgram(file: string): boolean {
  return ifPossible(() => accessSync(file, constants.X_OK)) !== null;
}

function real(file: string): string | null {
  return ifPossible(() => realpathSync(file));
}

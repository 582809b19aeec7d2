import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { loadsInside } from '../../core/sandbox/refusals.ts';
import { SandboxError } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';

/** What the loader of the system takes into every program: folders and files, between colons or spaces. */
const OF_LOADER = [
  ...['LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT'],
  ...['DYLD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'DYLD_FRAMEWORK_PATH'],
];

/** What node loads before its program. A name without a slash is looked for from the current folder. */
const OF_NODE =
  /(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader))[=\s]+("[^"]*"|\S+)/g;

/**
 * Refuses variables by which everything that runs outside, the shell and bubblewrap and ralph as well, would
 * load what the agent wrote. Throws a `SandboxError`.
 */
export function refuseLoadedCode(
  env: NodeJS.ProcessEnv,
  cwd: string,
  writable: readonly string[],
): void {
  const isWritable = (name: string): boolean =>
    isWithinAny(realPath(path.resolve(cwd, name)), writable);
  for (const variable of OF_LOADER) {
    const value = env[variable] ?? '';
    // An empty name between colons is the current folder, whichever that is.
    const names = value === '' ? [] : value.split(/[:;\s]/);
    // Without a slash, a library comes from the folders of the system.
    const isSearched = (name: string): boolean => !variable.endsWith('PATH') && !name.includes('/');
    if (names.some((name) => !isSearched(name) && isWritable(name))) refuse(variable, value);
  }
  const options = env.NODE_OPTIONS ?? '';
  for (const [, word = ''] of options.matchAll(OF_NODE)) {
    const name = word.replaceAll('"', '').replace(/^file:\/\//, '');
    if (isWritable(name)) refuse('NODE_OPTIONS', options);
  }
}

function refuse(variable: string, value: string): never {
  const { code, sentence } = loadsInside(variable, value);
  throw new SandboxError(code, sentence);
}

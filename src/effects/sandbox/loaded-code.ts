import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { loadsInside } from '../../core/sandbox/refusals.ts';
import { SandboxError } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';
import { linksOnWay } from './links-on-way.ts';

/** Variables by which the system's loader loads libraries: lists of folders or files, separated by colons or spaces. */
const OF_LOADER = [
  ...['LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_AUDIT'],
  ...['DYLD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'DYLD_FRAMEWORK_PATH'],
];

/** Options that make node load a file before its program. A name without a slash is looked up in the current folder. */
const OF_NODE =
  /(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader))[=\s]+("[^"]*"|\S+)/g;

/** Throws a `SandboxError` if variables make programs outside the sandbox load files that the agent can write. */
export function refuseLoadedCode(
  env: NodeJS.ProcessEnv,
  cwd: string,
  writable: readonly string[],
): void {
  // A path counts that leads through a link which the agent could replace later.
  const isWritable = (name: string): boolean => {
    const place = path.resolve(cwd, name);
    return [...linksOnWay(place), realPath(place)].some((each) => isWithinAny(each, writable));
  };
  for (const variable of OF_LOADER) {
    const value = env[variable] ?? '';
    // An empty name between colons means the current folder.
    const names = value === '' ? [] : value.split(/[:;\s]/);
    // A library without a slash is looked up in the folders of the system.
    const isSearched = (name: string): boolean => !variable.endsWith('PATH') && !name.includes('/');
    if (names.some((name) => !isSearched(name) && isWritable(name)))
      throw new SandboxError(loadsInside(variable, value));
  }
  const options = env.NODE_OPTIONS ?? '';
  for (const [, word = ''] of options.matchAll(OF_NODE)) {
    const name = word.replaceAll('"', '').replace(/^file:\/\//, '');
    if (isWritable(name)) throw new SandboxError(loadsInside('NODE_OPTIONS', options));
  }
}

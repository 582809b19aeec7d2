import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import {
  COMPONENT,
  COMPONENT_VERSION,
  missingPackage,
  runsInside,
} from '../../core/sandbox/refusals.ts';
import { SandboxError } from '../../errors.ts';
import { installedPackage, OWN_FILE, packageFolder } from '../files/installed-package.ts';
import { realPath } from '../files/real-path.ts';

/**
 * Returns the file from which to import the component, the package that makes the sandbox. The search begins at ralph's
 * own file and goes up; the current folder and NODE_PATH do not count. Throws a `SandboxError` if the component is
 * missing or of another version, or if the component, ralph or node lies where the agent may write.
 */
export function findComponent(writable: readonly string[]): string {
  const own = packageFolder(OWN_FILE);
  for (const [what, file] of [
    ['ralph', own],
    ['node', realPath(process.execPath)],
  ] as const) {
    if (isWithinAny(file, writable)) throw new SandboxError(runsInside(what, path.dirname(file)));
  }
  const found = installedPackage(COMPONENT);
  if (found === null) throw new SandboxError(missingPackage(null));
  const folder = realPath(found.place);
  if (isWithinAny(folder, writable)) throw new SandboxError(runsInside(COMPONENT, found.place));
  if (found.version !== COMPONENT_VERSION) throw new SandboxError(missingPackage(found.version));
  return path.join(folder, 'dist', 'index.js');
}

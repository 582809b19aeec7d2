import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isWithinAny } from '../../core/sandbox/places.ts';
import {
  COMPONENT,
  COMPONENT_VERSION,
  missingPackage,
  type Refusal,
  runsInside,
} from '../../core/sandbox/refusals.ts';
import { SandboxError } from '../../errors.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { parseObject, stringAt } from '../files/json-fields.ts';
import { realPath } from '../files/real-path.ts';

/** Ralph's own folder: the one above the bundle, or above the sources. */
const OWN_FILE = realPath(fileURLToPath(import.meta.url));

/**
 * Returns the file to import the component from. It is looked for upward from ralph's own file, never
 * from the current folder, and NODE_PATH does not count. Throws a `SandboxError` if it is missing, of
 * another version, or, like ralph and node themselves, in a folder that the agent may write.
 */
export function findComponent(writable: readonly string[]): string {
  const own = packageFolder(OWN_FILE);
  for (const [what, file] of [
    ['ralph', own],
    ['node', realPath(process.execPath)],
  ] as const) {
    if (isWithinAny(file, writable)) refuse(runsInside(what, path.dirname(file)));
  }
  let found: string | null = null;
  for (const folder of upward(path.dirname(OWN_FILE))) {
    const place = path.join(folder, 'node_modules', COMPONENT);
    const version = versionIn(place);
    if (version === null) continue;
    if (isWithinAny(realPath(place), writable)) refuse(runsInside(COMPONENT, place));
    found = version;
    if (version === COMPONENT_VERSION) return path.join(realPath(place), 'dist', 'index.js');
    break;
  }
  return refuse(missingPackage(found));
}

function refuse({ code, sentence }: Refusal): never {
  throw new SandboxError(code, sentence);
}

function versionIn(folder: string): string | null {
  const text = tryReadText(path.join(folder, 'package.json'), MB);
  return text === null ? null : stringAt(parseObject(text) ?? {}, 'version');
}

/** Returns the nearest folder with a `package.json`, from a file upward. */
function packageFolder(file: string): string {
  for (const folder of upward(path.dirname(file))) {
    if (versionIn(folder) !== null) return folder;
  }
  return path.dirname(file);
}

function* upward(start: string): Generator<string> {
  for (let folder = start; ; folder = path.dirname(folder)) {
    yield folder;
    if (path.dirname(folder) === folder) return;
  }
}

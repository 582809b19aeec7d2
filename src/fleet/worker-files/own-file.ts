import { fstatSync } from 'node:fs';
import { LineCounter } from 'yaml';
import { readBytes, withRegularFile } from '../../effects/files/bounded-read.ts';
import { parseYaml } from '../../effects/files/yaml-document.ts';
import { distrust } from '../../effects/trust/owner.ts';
import { messageOf, UsageError } from '../../errors.ts';

interface OwnFile {
  readonly file: string;
  readonly where: string;
  /** Whether it holds secrets: then only its owner may read it, and no message quotes it. */
  readonly isSecret: boolean;
}

const MAX_BYTES = 256 * 1024;
/** The most YAML aliases that a file may use: with more, a few lines could expand to gigabytes. */
const MAX_ALIASES = 100;

/**
 * Reads a file of YAML or JSON that only this user or root can have written, as plain data. Throws a `UsageError`
 * if somebody else could have written it, or if it cannot be read.
 */
export function readOwnFile(own: OwnFile): unknown {
  const { file, where, isSecret } = own;
  const text = readText(own);
  const lines = new LineCounter();
  const document = parseYaml(text, { lineCounter: lines, prettyErrors: false });
  if ('problem' in document) throw new UsageError([`${file} cannot be read: ${document.problem}.`]);
  if (document.errors.length > 0) {
    throw new UsageError(
      document.errors.map((error) => {
        const { line } = lines.linePos(error.pos[0]);
        return `${file}:${line} is neither valid YAML nor JSON${isSecret ? '' : `: ${error.message}`}.`;
      }),
    );
  }
  try {
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    // This throws if an alias refers to itself.
    JSON.stringify(data);
    return data;
  } catch {
    throw new UsageError([
      `${where} expects plain keys and values; ${file} has aliases that cannot be resolved.`,
    ]);
  }
}

function readText({ file, where, isSecret }: OwnFile): string {
  let read: { readonly why: string | null; readonly text: string };
  try {
    read = withRegularFile(file, 0, (descriptor, size) => {
      const stats = fstatSync(descriptor);
      const isShared = isSecret && (stats.mode & 0o077) !== 0;
      const shared = isShared ? 'other users can read it; fix that with chmod 600' : null;
      const large = size > MAX_BYTES ? 'it is larger than 256 KB' : null;
      const why = distrust(stats) ?? shared ?? large;
      return { why, text: why === null ? readBytes(descriptor, size).toString() : '' };
    });
  } catch (error) {
    throw new UsageError([`${where} expects a file that can be read; found: ${messageOf(error)}.`]);
  }
  if (read.why !== null) {
    throw new UsageError([
      `${where} expects a file of your own; ${file} is not used: ${read.why}.`,
    ]);
  }
  return read.text;
}

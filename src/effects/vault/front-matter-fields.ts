import { KB } from '../files/bounded-read.ts';
import { parseYaml } from '../files/yaml-document.ts';

/**
 * The limit for front matter: about forty times what a task needs. Parsing time grows with the square of the size, and
 * each time ralph looks through a vault, it reads the front matter of all files.
 */
export const FRONT_MATTER_MAX_BYTES = 8 * KB;

/** YAML aliases can expand without bound: a few lines of text can stand for gigabytes. */
const MAX_ALIASES = 100;

/** The fields at the top of a task file, or why they cannot be read, as a clause. */
export type FrontMatterFields =
  | { readonly fields: readonly (readonly [string, unknown])[] }
  | { readonly problem: string };

/** Parses the YAML between the `---` lines of a task file. YAML that is no mapping has no fields. */
export function readFrontMatterFields(yaml: string): FrontMatterFields {
  if (Buffer.byteLength(yaml) > FRONT_MATTER_MAX_BYTES) {
    return { problem: `it is over ${FRONT_MATTER_MAX_BYTES / KB} KB` };
  }
  try {
    const document = parseYaml(yaml, { logLevel: 'silent' });
    if ('problem' in document) return document;
    const [error] = document.errors;
    if (error !== undefined) return { problem: error.message.split('\n')[0] ?? '' };
    const fields: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { fields: typeof fields === 'object' && fields !== null ? Object.entries(fields) : [] };
  } catch (error) {
    // `toJS` throws, for example, if an alias contains itself.
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

import { KB } from '../files/bounded-read.ts';
import { parseYaml } from '../files/yaml-document.ts';

/**
 * About forty times what a task needs. Parsing time grows with the square of the size, and every
 * pass over a vault reads all of them.
 */
export const FRONT_MATTER_MAX_BYTES = 8 * KB;

/** Aliases can expand without bound: a few lines of text can stand for gigabytes. */
const MAX_ALIASES = 100;

/** The fields at the top of a task file, or a problem, phrased as half a sentence. */
export type FrontMatterFields =
  | { readonly fields: readonly (readonly [string, unknown])[] }
  | { readonly problem: string };

/** Reads the YAML between the `---` lines of a task file; no fields if it is not a mapping. */
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
    // For example, a text that refers to itself without end.
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

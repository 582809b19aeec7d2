import { KB } from './bounded-read.ts';
import { parseYaml } from './yaml-document.ts';

/**
 * Some forty times what a task says of itself. The time to read YAML grows with the square of its size,
 * and a pass over a vault reads all of them each time.
 */
export const FRONT_MATTER_MAX_BYTES = 8 * KB;

/** What aliases stand for may grow without bound: a text of a few lines can mean gigabytes. */
const MAX_ALIASES = 100;

/** The fields at the top of a task file, or what is wrong with them, half a sentence. */
export type FrontMatterFields =
  | { readonly fields: readonly (readonly [string, unknown])[] }
  | { readonly problem: string };

/** Reads the YAML between the `---` lines of a task file; no fields where it holds something else. */
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
    // A text may refer to itself without end.
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

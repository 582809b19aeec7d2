import { type Document, parseDocument } from 'yaml';
import type { Source, Written } from '../core/setting-source.ts';

/** What a task file says of its own task. */
export interface FrontMatter {
  readonly type: Written | null;
  readonly promise: Written | null;
  /** Counts only where it lowers what is in force without it. */
  readonly maxIterations: Written | null;
  readonly approvalRequired: boolean;
  readonly problems: readonly string[];
}

const NOTHING: FrontMatter = {
  type: null,
  promise: null,
  maxIterations: null,
  approvalRequired: false,
  problems: [],
};

/**
 * Reads the front matter of a task file. Fields that mean nothing here belong to other programs and
 * are left alone: nothing in the file can widen what the agent may do.
 */
export function readFrontMatter(text: string | null, file: string): FrontMatter {
  if (text === null) return NOTHING;
  const document = parseDocument(text, { logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    const problem = `The front matter of ${file} cannot be read: ${error.message.split('\n')[0]}`;
    return { ...NOTHING, problems: [problem] };
  }
  const fields = valuesOf(document);
  if (fields instanceof Error) {
    return {
      ...NOTHING,
      problems: [`The front matter of ${file} cannot be read: ${fields.message}`],
    };
  }
  if (typeof fields !== 'object' || fields === null) return NOTHING;
  const values = new Map<string, unknown>(
    Object.entries(fields).map(([key, value]) => [key.trim().toLowerCase(), value]),
  );
  const written = (key: string): Written | null => {
    const value = values.get(key) ?? null;
    if (value === null) return null;
    const source: Source = { kind: 'front-matter', where: `${file} ${key}` };
    return { value: typeof value === 'number' ? value : String(value), source };
  };
  return {
    type: written('type'),
    promise: written('promise'),
    maxIterations: written('max_iterations'),
    approvalRequired: !isNo(values.get('approval_required') ?? null),
    problems: [],
  };
}

/** Whatever is not plainly a no asks a person: one request too many rather than one too few. */
function isNo(value: unknown): boolean {
  return value === null || /^(?:false|no|off|n|0|never|none|)$/i.test(String(value).trim());
}

/** A file may refer to itself without end: what comes of that is an error. */
function valuesOf(document: Document.Parsed): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

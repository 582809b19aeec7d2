import type { Source, Written } from '../core/settings/setting-source.ts';
import { readFrontMatterFields } from '../effects/vault/front-matter-fields.ts';

/** What a task file says about its own task. */
export interface FrontMatter {
  readonly type: Written | null;
  readonly promise: Written | null;
  /** Used only if it is lower than the limit that applies without it. */
  readonly maxIterations: Written | null;
  readonly approvalRequired: boolean;
  readonly problems: readonly string[];
}

/**
 * Reads the front matter of a task file. Ignores unknown fields, since they belong to other programs.
 * Nothing in the file can widen what the agent may do.
 */
export function readFrontMatter(text: string, file: string): FrontMatter {
  const found = readFrontMatterFields(text);
  const isBad = 'problem' in found;
  const fields = isBad ? [] : found.fields;
  const values = new Map<string, unknown>(
    fields.map(([key, value]) => [key.trim().toLowerCase(), value]),
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
    problems: isBad ? [`The front matter of ${file} cannot be read: ${found.problem}`] : [],
  };
}

/** Anything that is not clearly a no asks a person: an unnecessary request is better than a missing one. */
function isNo(value: unknown): boolean {
  return value === null || /^(?:false|no|off|n|0|never|none|)$/i.test(String(value).trim());
}

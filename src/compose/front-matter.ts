import type { Source, Written } from '../core/settings/setting-source.ts';
import { readFrontMatterFields } from '../effects/vault/front-matter-fields.ts';

/** The settings in the front matter of a task file. A setting is null if it is not written there. */
export interface FrontMatter {
  readonly type: Written | null;
  readonly promise: Written | null;
  /** Counts only if it is lower than the limit from the other sources. */
  readonly maxIterations: Written | null;
  readonly approvalRequired: boolean;
  readonly problems: readonly string[];
}

/** Reads the front matter of a task file. Ignores unknown fields. No field can give the agent more rights. */
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

/** Whether a value clearly means no. In doubt ralph asks for an approval: a needless request does no harm. */
function isNo(value: unknown): boolean {
  return value === null || /^(?:false|no|off|n|0|never|none|)$/i.test(String(value).trim());
}

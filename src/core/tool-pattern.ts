import type { RefusedTool } from './attempt.ts';

/**
 * Whether a refusal was meant by the user. Patterns have the form of `--allowed-tools`: `Bash`,
 * `Bash(git push:*)` for a beginning, `Edit(docs/**)` with wildcards, `*` for all; several in one text
 * are parted by commas.
 */
export function isAccepted(refusal: RefusedTool, patterns: readonly string[]): boolean {
  return patterns.flatMap(splitPatterns).some((pattern) => matches(refusal, pattern));
}

/** Commas and spaces part patterns, but not inside parentheses. */
function splitPatterns(text: string): readonly string[] {
  return text.match(/[^\s,(]+(\([^)]*\))?/g) ?? [];
}

function matches({ tool, target }: RefusedTool, pattern: string): boolean {
  const [, name = '', inner] = /^([^(]+)(?:\((.*)\))?$/.exec(pattern) ?? [];
  if (!fits(tool, name)) return false;
  if (inner === undefined || inner === '*') return true;
  if (inner.endsWith(':*')) {
    const start = inner.slice(0, -2);
    return target === start || target.startsWith(`${start} `);
  }
  return fits(target, inner);
}

/** `*` stands for anything; all else for itself. Read from left to right, so that it takes no time. */
function fits(text: string, pattern: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let from = start.length;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return text.length - end.length >= from && text.endsWith(end);
}

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
  if (!wildcard(name).test(tool)) return false;
  if (inner === undefined || inner === '*') return true;
  if (inner.endsWith(':*')) {
    const start = inner.slice(0, -2);
    return target === start || target.startsWith(`${start} `);
  }
  return wildcard(inner).test(target);
}

/** `*` stands for anything; all else for itself. */
function wildcard(pattern: string): RegExp {
  const source = pattern
    .split(/\*+/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 's');
}

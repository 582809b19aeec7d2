import type { RefusedTool } from './attempt.ts';
import { commandsIn } from './shell-commands.ts';

/**
 * Whether the user's patterns accept that a tool was refused. They have the form of `--allowed-tools`: `Bash`,
 * `Bash(git push:*)` for a prefix, `Edit(docs/**)` with wildcards, `*` for all. Commas separate several patterns in
 * one text. Every command of a command line must match: a refused `git push && npm test` also left out the test.
 */
export function isAccepted(refusal: RefusedTool, patterns: readonly string[]): boolean {
  const each = patterns.flatMap(splitPatterns);
  const { tool, target, command } = refusal;
  if (command === null) return each.some((pattern) => matches(tool, target, pattern));
  if (each.some((pattern) => matchesWhole(tool, command, pattern))) return true;
  const commands = commandsIn(command) ?? [];
  return (
    commands.length > 0 &&
    commands.every((one) => each.some((pattern) => matches(tool, one, pattern)))
  );
}

/** Splits at commas and spaces, except inside parentheses. */
function splitPatterns(text: string): readonly string[] {
  return text.match(/[^\s,(]+(\([^)]*\))?/g) ?? [];
}

/** Whether a pattern matches every call of the tool, or is exactly this command line. */
function matchesWhole(tool: string, command: string, pattern: string): boolean {
  const { name, inner } = partsOf(pattern);
  if (!fits(tool, name)) return false;
  return inner === undefined || inner === '*' || (inner !== '' && inner === command.trim());
}

function matches(tool: string, target: string, pattern: string): boolean {
  const { name, inner } = partsOf(pattern);
  if (!fits(tool, name)) return false;
  if (inner === undefined || inner === '*') return true;
  if (inner.endsWith(':*')) {
    const start = inner.slice(0, -2);
    return target === start || target.startsWith(`${start} `);
  }
  return fits(target, inner);
}

function partsOf(pattern: string): { readonly name: string; readonly inner: string | undefined } {
  const [, name = '', inner] = /^([^(]+)(?:\((.*)\))?$/s.exec(pattern) ?? [];
  return { name, inner };
}

/** Whether a pattern matches a text; `*` matches anything. A regular expression could take too long. */
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

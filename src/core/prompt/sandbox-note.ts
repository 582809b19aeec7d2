import type { SandboxRule, SandboxRules } from '../sandbox/rules.ts';
import { type MaterialRules, materialLine } from '../text/untrusted-text.ts';

/** How many folders or hosts are named; the rest is only counted. */
const MOST_NAMED = 20;

/** Tells the agent which folders it may write to, which hosts it can reach, and which errors come from the sandbox. */
export function sandboxNote({ allowWrite, allowNet }: SandboxRules, rules: MaterialRules): string {
  return [
    `You work in a sandbox. You may write in these folders: ${named(allowWrite, rules)}, and in $TMPDIR.`,
    allowNet.length === 0
      ? 'You can reach no host.'
      : `You can reach these hosts and no others: ${named(allowNet, rules)}.`,
    'The configuration and the hooks of git are fixed.',
    '"Read-only file system", "No such file or directory" below the home, and "403" with "network allowlist" are walls, not faults: do not work around them, but say in your final message what you would have needed.',
  ].join(' ');
}

function named(list: readonly SandboxRule[], rules: MaterialRules): string {
  const values = [...new Set(list.map(({ value }) => value))];
  const more = values.length - MOST_NAMED;
  const shown = values.slice(0, MOST_NAMED).map((value) => materialLine(value, rules));
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

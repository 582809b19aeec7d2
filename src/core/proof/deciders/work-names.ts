/** Words in a path that say that the file checks or builds the work. */
const TOOLS = new RegExp(
  `(?:^|[/._-])(?:${[
    ...['assert', 'checks?', 'ci', 'compare', 'expect', 'hack', 'judges?', 'lint(?:s|ing|er)?'],
    ...['quality', 'scripts?', 'tests?', 'tools?', 'validate', 'verify'],
  ].join('|')})(?=[/._-]|$)`,
  'i',
);
/** Folders in which projects usually keep their own source code. */
const SOURCES = /(?:^|\/)(?:src|source|sources|lib|app|apps|cmd|internal|pkg|include)\//i;
const SHELL = /\.(?:sh|bash|zsh|ksh)$/;

/** Matches a line whose output is captured or compared by another program, so that what the line runs is the work. */
const LOOKED_AT =
  /`|\$\(|<\(|\|\s*(?:grep|egrep|fgrep|rg|diff|cmp|comm|jq|yq|wc|sort|uniq|awk|cut)\b|>\s*(?!\/dev\/|&|\S+\.log\b)/;

/** Whether the words of a path say that the file belongs to the checks. */
export function isToolName(path: string): boolean {
  return TOOLS.test(path);
}

/**
 * Whether a file that a line of a recipe or script runs is probably the work itself, and not a part of the checks.
 * When checks are repeated with files as they were at the start, such a file stays, or the work would be undone.
 */
export function isWork(path: string, line: string): boolean {
  if (isToolName(path)) return false;
  return LOOKED_AT.test(line) || (SOURCES.test(path) && !SHELL.test(path));
}

/** Whether a file that a script runs counts as a part of the checks, since scripts also run the work. */
export function isPartOfChecks(path: string, line: string): boolean {
  return (isToolName(path) || SHELL.test(path)) && !isWork(path, line);
}

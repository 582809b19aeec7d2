/** Words of a path that say that what lies there checks the work, or builds it. */
const TOOLS = new RegExp(
  `(?:^|[/._-])(?:${[
    ...['assert', 'checks?', 'ci', 'compare', 'expect', 'hack', 'judges?', 'lint(?:s|ing|er)?'],
    ...['quality', 'scripts?', 'tests?', 'tools?', 'validate', 'verify'],
  ].join('|')})(?=[/._-]|$)`,
  'i',
);
/** Folders in which projects keep what they are about. */
const SOURCES = /(?:^|\/)(?:src|source|sources|lib|app|apps|cmd|internal|pkg|include)\//i;
const SHELL = /\.(?:sh|bash|zsh|ksh)$/;

/** What a line prints is caught, or read by a program that compares: then what it runs is the work. */
const LOOKED_AT =
  /`|\$\(|<\(|\|\s*(?:grep|egrep|fgrep|rg|diff|cmp|comm|jq|yq|wc|sort|uniq|awk|cut)\b|>\s*(?!\/dev\/|&|\S+\.log\b)/;

/** Whether a path says by its words that the file belongs to the checks. */
export function isToolName(path: string): boolean {
  return TOOLS.test(path);
}

/**
 * Whether a file that a line of a recipe or script runs is rather the work than what decides it: to put it back in the
 * old exam would undo the work.
 */
export function isWork(path: string, line: string): boolean {
  if (isToolName(path)) return false;
  return LOOKED_AT.test(line) || (SOURCES.test(path) && !SHELL.test(path));
}

/** Whether a script that decides leads to a file: it also runs the work, so only what looks like a part of the checks counts. */
export function isPartOfChecks(path: string, line: string): boolean {
  return (isToolName(path) || SHELL.test(path)) && !isWork(path, line);
}

/** Matches the next token outside double quotes. */
const PLAIN =
  /[ \t]+|\\[\s\S]|'[^']*'|\$\{\w+\}|\$['{]|[$<>]?\(|`[^`'"\\#]*`|<<<|<<|&>>?|[<>]&|>\||&&|\|\||\|&|[^\\'"$`<>()&|;\n# \t]+|[\s\S]/y;
/** Matches the next token inside double quotes. */
const QUOTED = /\\[\s\S]|\$\{\w+\}|\$\{|\$\(|`[^`'"\\#]*`|[^\\"$`]+|[\s\S]/y;
/** Tokens that make a line unclear: a backtick left open or before quotes, a last backslash, `${` with an operator. */
const UNCLEAR_IN_QUOTES = new Set(['`', '\\', '${']);
/** Outside double quotes also: a here-document, a single quote left open, and `$'…'`, which has its own escapes. */
const UNCLEAR = new Set([...UNCLEAR_IN_QUOTES, '<<', "'", "$'"]);
const SEPARATORS = new Set(['&&', '||', '|&', ';', '&', '|', '\n']);
const OPENERS = new Set(['(', '$(', '<(', '>(']);

/**
 * Returns the commands that a shell runs for a command line, with white space collapsed. Splits at `&&`, `||`, `;`,
 * `|`, `&` and line ends, unless they are quoted or escaped. The content of `$(…)`, backticks, `<(…)`, `>(…)` and
 * `(…)` counts as separate commands. Returns null if the line is too complicated to be split without a shell.
 */
export function commandsIn(line: string): readonly string[] | null {
  const found: string[] = [];
  let at = 0;

  const next = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const token = pattern.exec(line)?.[0] ?? '';
    at += token.length;
    return token;
  };

  /** Reads to the end of the line, or past the closing parenthesis. Returns false if the line is unclear. */
  const readCommands = (isInner: boolean): boolean => {
    let command = '';
    let isQuoted = false;
    let isWordStart = true;
    const closeCommand = (): void => {
      const text = command.replace(/\s+/g, ' ').trim();
      if (text !== '') found.push(text);
      command = '';
    };
    while (at < line.length) {
      const from = at;
      const token = next(isQuoted ? QUOTED : PLAIN);
      // A backslash before a line end only joins the two lines.
      if (token === '\\\n') continue;
      const wasWordStart = isWordStart;
      isWordStart = false;
      if ((isQuoted ? UNCLEAR_IN_QUOTES : UNCLEAR).has(token)) return false;
      if (token === '"') {
        isQuoted = !isQuoted;
        command += token;
      } else if (token.length > 1 && token.startsWith('`')) {
        const inner = commandsIn(token.slice(1, -1));
        if (inner === null) return false;
        found.push(...inner);
        command += token;
      } else if (OPENERS.has(token) && !(isQuoted && token !== '$(')) {
        // At the start of a command, `(` opens a subshell; after a word, it belongs to a function or a glob pattern.
        const isSubshell = token === '(';
        if (isSubshell && command.trim() !== '') return false;
        if (!readCommands(true)) return false;
        if (!isSubshell) command += line.slice(from, at);
      } else if (isQuoted) {
        command += token;
      } else if (token === ')') {
        closeCommand();
        return isInner;
      } else if (SEPARATORS.has(token)) {
        closeCommand();
        isWordStart = true;
      } else if (token === '#' && wasWordStart) {
        const end = line.indexOf('\n', at);
        at = end === -1 ? line.length : end;
      } else {
        command += token;
        isWordStart = /^[ \t]/.test(token);
      }
    }
    closeCommand();
    return !isQuoted && !isInner;
  };

  return readCommands(false) ? found : null;
}

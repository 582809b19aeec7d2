import { OPEN_BOX_LINE } from './checkbox.ts';

/** A line, with the kind of block that it begins if it is judged without the other lines. */
export interface Line {
  readonly kind: LineKind;
  /** The indentation in columns; a tab advances to the next multiple of four. */
  readonly indent: number;
  /** The index of the line break, or of the end of the text. */
  readonly end: number;
  /** The sign that opens a code fence, a bracket or an environment (as in LaTeX); otherwise empty. */
  readonly sign: string;
}

type LineKind =
  | 'blank'
  | 'text'
  | 'item'
  | 'fence'
  | 'quote'
  | 'heading'
  | 'underline'
  | 'rule'
  | 'table'
  /** An unticked checkbox. */
  | 'box'
  /** An unfenced diff. */
  | 'diff'
  /** A shell prompt with a command, followed by its output. */
  | 'transcript'
  /** A YAML key whose value is the text below. */
  | 'block-scalar'
  /** A bracket or an environment that the line opens but does not close. */
  | 'bracket';

export function readLine(text: string, at: number): Line {
  let indent = 0;
  let first = at;
  for (; first < text.length; first += 1) {
    const code = text.charCodeAt(first);
    if (code === TAB) indent += 4 - (indent % 4);
    else if (code === SPACE || (code > 0x7f && /\s/.test(text.charAt(first)))) indent += 1;
    else break;
  }
  if (first === text.length || text.charCodeAt(first) === NEWLINE) {
    return { kind: 'blank', indent, end: first, sign: '' };
  }
  const found = text.indexOf('\n', first);
  const end = found === -1 ? text.length : found;
  const begun = readBeginning(text.slice(first, end));
  const { kind, sign } = begun ?? readEnding(text, first, end) ?? TEXT;
  return { kind, indent, end, sign };
}

const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;

type Kind = Pick<Line, 'kind' | 'sign'>;
const TEXT: Kind = { kind: 'text', sign: '' };
const ITEM: Kind = { kind: 'item', sign: '' };

/** Matches prompts that begin with a letter: those of shells (`me@box:~$`, `C:\\work>`) and of IPython (`In [3]:`). */
const WORDS_OF_PROMPT = String.raw`[\w.-]{1,40}@[^\s@]{1,80}[$#%]|(?:PS )?[A-Z]:\\[^>\n]{0,200}>|(?:ba|z|)sh-[\d.]+[$#]|In \[\d+\]:`;
/** Matches prompts of shells, and the signs that begin a line in the output of agents and in file trees. */
const PROMPT = new RegExp(
  `^[*_]{0,3}(?:[$%❯λ⎿│├└]|➜ |╰─\\S*|\\([\\w.-]+\\) [$%]|\\[[\\w.-]+@[^\\]\\n]*\\][$#]|[●⏺] \\w+\\(.*\\)|${WORDS_OF_PROMPT})(?:\\s|$)`,
  'u',
);

const LIST_MARKERS = /^(?:(?:[-*+]|\d{1,9}[.)])[^\S\n]+)+/;
const DIFF = /^(?:diff --git |@@ -\d+(?:,\d+)? \+\d|(?:---|\+\+\+) "?(?:[ab]\/|\/dev\/null))/;
/** Matches the openings of LaTeX and Org environments, Markdown containers, C comments and Python strings. */
const ENVIRONMENT = /^(?:\\begin\{|#\+begin|:::|\/\*(?!.*\*\/)|"""(?!.*""")|'''(?!.*'''))/i;
const SHOWN_BY_SIGN: Readonly<Record<string, LineKind>> = { '>': 'quote', '|': 'table' };

/** Returns the kind of a line according to its beginning, or null for plain text. */
function readBeginning(line: string): Kind | null {
  if (/[[☐⬜🔲◻□]/u.test(line) && !line.startsWith('>') && OPEN_BOX_LINE.test(line)) {
    return { kind: 'box', sign: '' };
  }
  if (line.length > 6 && DIFF.test(line)) return { kind: 'diff', sign: '' };
  const rest = line.replace(LIST_MARKERS, '');
  const first = rest.charAt(0);
  const shown = SHOWN_BY_SIGN[first];
  if (shown !== undefined) return { kind: shown, sign: '' };
  if (first === '`' || first === '~') {
    const fence = /^(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(rest);
    if (fence !== null) return { kind: 'fence', sign: fence[1] ?? fence[2] ?? '' };
  }
  if (first === '#' && /^#{1,6}(?:\s|$)/.test(rest)) return { kind: 'heading', sign: '' };
  if (PROMPT.test(rest)) return { kind: 'transcript', sign: '' };
  if (first === '{' && !/\}[,;]?\s*$/.test(rest.slice(-20))) return { kind: 'bracket', sign: '{' };
  const environment = ENVIRONMENT.exec(rest)?.[0];
  if (environment !== undefined) return { kind: 'bracket', sign: environment.toLowerCase() };
  if (rest.length < line.length) return ITEM;
  if (first === '=' && /^=+\s*$/.test(rest)) return { kind: 'underline', sign: '' };
  if (/^(?:-{2,}|\*{3,}|_{3,})\s*$/.test(rest)) return { kind: 'rule', sign: '' };
  return /^(?:[-*+]|\d{1,9}[.)])\s*$/.test(rest) ? ITEM : null;
}

/** Matches the start of a here-document at the end of a line: `cat <<'EOF'`. */
const HERE_DOCUMENT = /<<[-~]?\s?["']?([A-Z_]{3,20})["']?\s*$/;

/** Returns the kind of a line whose end opens a block, or null if it opens none. */
function readEnding(text: string, first: number, end: number): Kind | null {
  const last = text.charAt(end - 1);
  if (last === '{' || last === '[' || last === '(') return { kind: 'bracket', sign: last };
  const ending = text.slice(Math.max(first, end - 30), end);
  const word = ending.includes('<<') ? HERE_DOCUMENT.exec(ending)?.[1] : undefined;
  if (word !== undefined) return { kind: 'bracket', sign: word.toLowerCase() };
  if (!/[|>+\-\d]/.test(last)) return null;
  return /:\s+[|>][+-]?\d?[+-]?$/.test(ending) ? { kind: 'block-scalar', sign: '' } : null;
}

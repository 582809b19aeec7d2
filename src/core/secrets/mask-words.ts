/** A rule for secrets that are recognised by the beginning of a word, such as `ghp_…`. */
export interface WordRule {
  /** The source of a pattern for the beginning of the word. */
  readonly begins: string;
  /** Returns the source of a pattern for the whole match, which must run in linear time. Called only if needed. */
  readonly pattern: () => string;
  readonly replace: (match: RegExpExecArray) => string;
}

/** Matches escapes, which end in a letter or digit but are not part of a word: `\n`, `%3D`, a colour code. */
export const ESCAPE = '\\\\(?:[nrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\\[[0-9;]{0,12}m';
const ESCAPE_BEFORE = new RegExp(`(?:${ESCAPE})$`);
const LONGEST_ESCAPE = 14;

/** Matches the start of a word, including an escape before it. Other patterns begin with this. */
export const WORD_START = `(?:(?<![A-Za-z0-9])|${ESCAPE})`;

function startsWord(text: string, at: number): boolean {
  const isInside = at > 0 && /[A-Za-z0-9]/.test(text.charAt(at - 1));
  return !isInside || ESCAPE_BEFORE.test(text.slice(Math.max(0, at - LONGEST_ESCAPE), at));
}

interface Found {
  readonly length: number;
  readonly masked: string;
}

type Step = (text: string, at: number) => Found | null;

function stepOf({ begins, pattern, replace }: WordRule): Step {
  const [literal = ''] = /^[\w-]*(?![?*+{])/.exec(begins) ?? [];
  let made: RegExp | null = null;
  return (text, at) => {
    if (!text.startsWith(literal, at)) return null;
    made ??= new RegExp(pattern(), 'y');
    made.lastIndex = at;
    const match = made.exec(text);
    return match && { length: match[0].length, masked: replace(match) };
  };
}

function firstOf(steps: readonly Step[], text: string, at: number): Found | null {
  for (const step of steps) {
    const found = step(text, at);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Combines rules into one function that replaces their matches. The first rule that matches at a place counts. The
 * function searches for the beginnings of all rules at once and tries whole patterns only where it finds one, since
 * compiling all patterns would take 20 ms.
 */
export function wordMasker(rules: readonly WordRule[]): (text: string) => string {
  const sign = new RegExp(rules.map(({ begins }) => begins).join('|'), 'g');
  const steps = rules.map(stepOf);
  return (text) => {
    let masked = '';
    let kept = 0;
    sign.lastIndex = 0;
    for (let begun = sign.exec(text); begun !== null; begun = sign.exec(text)) {
      const at = begun.index;
      sign.lastIndex = at + 1;
      const found = startsWord(text, at) ? firstOf(steps, text, at) : null;
      if (found === null) continue;
      masked += text.slice(kept, at) + found.masked;
      kept = at + found.length;
      sign.lastIndex = kept;
    }
    return kept === 0 ? text : masked + text.slice(kept);
  };
}

/** A secret recognised by the beginning of a word, such as `ghp_…`. */
export interface WordRule {
  /** Pattern source for the beginning of a word; its first three characters must be enumerable. */
  readonly begins: string;
  /**
   * Returns the pattern source for the whole match, which must run in linear time. It is a function
   * because most of the patterns are never needed.
   */
  readonly pattern: () => string;
  readonly replace: (match: RegExpExecArray) => string;
}

interface Step {
  readonly rule: WordRule;
  pattern: RegExp | null;
}

const SLOTS = 4096;
/** Number of leading characters that select the rules for a word. */
const KEY_LENGTH = 3;

/**
 * Combines rules into one function that replaces their matches. It scans the text once and looks up
 * the beginning of each word: a pattern with a hundred alternatives would take milliseconds to
 * compile.
 */
export function wordMasker(rules: readonly WordRule[]): (text: string) => string {
  const steps = new Map<number, readonly Step[]>();
  const isTaken = new Uint8Array(SLOTS);
  for (const rule of rules) {
    const step: Step = { rule, pattern: null };
    for (const key of keysOf(rule.begins)) {
      const slot = slotOf(key.charCodeAt(0), key.charCodeAt(1), key.charCodeAt(2));
      steps.set(slot, [...(steps.get(slot) ?? []), step]);
      isTaken[slot] = 1;
    }
  }
  return (text) => {
    let masked = '';
    let kept = 0;
    let isInWord = false;
    let escapeEnd = -1;
    for (let at = 0; at < text.length - KEY_LENGTH; at += 1) {
      const code = text.charCodeAt(at);
      const kind = code < KINDS.length ? KINDS[code] : OTHER;
      if (kind !== LETTER) {
        isInWord = false;
        if (kind === ESCAPING) escapeEnd = endOfEscape(text, at);
        continue;
      }
      if (isInWord && at !== escapeEnd) continue;
      isInWord = true;
      const slot = slotOf(code, text.charCodeAt(at + 1), text.charCodeAt(at + 2));
      if (isTaken[slot] === 0) continue;
      const found = firstMatch(steps.get(slot) ?? [], text, at);
      if (found === null) continue;
      masked += text.slice(kept, at) + found.replacement;
      kept = at + found.length;
      at = kept - 1;
    }
    return kept === 0 ? text : masked + text.slice(kept);
  };
}

function firstMatch(
  steps: readonly Step[],
  text: string,
  at: number,
): { readonly replacement: string; readonly length: number } | null {
  for (const step of steps) {
    step.pattern ??= new RegExp(step.rule.pattern(), 'y');
    step.pattern.lastIndex = at;
    const match = step.pattern.exec(text);
    if (match !== null) return { replacement: step.rule.replace(match), length: match[0].length };
  }
  return null;
}

function slotOf(first: number, second: number, third: number): number {
  return ((first * 31 + second) * 31 + third) & (SLOTS - 1);
}

const OTHER = 0;
const LETTER = 1;
const ESCAPING = 2;

/** For each ASCII character: whether it is a letter or digit, or can begin an escape. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z0-9]/.test(character)) return LETTER;
  return /[\\%[]/.test(character) ? ESCAPING : OTHER;
});

/** Sequences that end in a letter or digit but are not part of a word: `\n`, `%3D`, a colour. */
export const ESCAPE = '\\\\(?:[nrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\\[[0-9;]{0,12}m';
const ESCAPE_HERE = new RegExp(ESCAPE, 'y');

/** The start of a word, for the beginning of another pattern. It includes an escape before the word. */
export const WORD_START = `(?:(?<![A-Za-z0-9])|${ESCAPE})`;

function endOfEscape(text: string, at: number): number {
  ESCAPE_HERE.lastIndex = at;
  return ESCAPE_HERE.test(text) ? ESCAPE_HERE.lastIndex : -1;
}

/** Returns the three characters with which a match can begin: `gh[pu]_` gives `ghp` and `ghu`. */
function keysOf(source: string): readonly string[] {
  const key = source.slice(0, KEY_LENGTH);
  if (/^[\w-]{3}/.test(key)) return [key];
  const plain = /^(?:[\w /!-]|\\[.$])*/.exec(source)?.[0] ?? '';
  const letters = plain.replaceAll('\\', '');
  if (letters.length >= KEY_LENGTH) return [letters.slice(0, KEY_LENGTH)];
  const rest = source.slice(plain.length);
  const [choice, group, characters] = /^(?:\(\?:([^()]*)\)|\[([A-Za-z0-9]+)\])/.exec(rest) ?? [];
  if (choice === undefined) throw new Error(`cannot tell how ${source} begins`);
  const choices = group?.split('|') ?? [...(characters ?? '')];
  return choices.flatMap((each) => keysOf(plain + each + rest.slice(choice.length)));
}

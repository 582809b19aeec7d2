/** Stands in the place of what was taken out. */
export const MASK = '…[masked]';

/** One kind of thing to mask. */
export interface MaskRule {
  /**
   * Sources of short patterns, one of which is found wherever this rule would change a text. Nearly
   * every text holds no sign at all, so the signs of all rules are looked for at once. One with `\b`
   * in front begins with a letter or a digit as it is; it is also found behind `_` and an escape.
   */
  readonly signs: readonly string[];
  readonly mask: (text: string) => string;
}

/**
 * A rule that replaces each match of a pattern. The pattern has the flag `g`, and is read in linear
 * time: what repeats without bound either ends it, or cannot contain what begins it again.
 */
export function replacing(
  signs: readonly string[],
  pattern: RegExp,
  replace: (match: RegExpExecArray) => string,
): MaskRule {
  return { signs, mask: (text) => replaceEach(text, pattern, replace) };
}

/** A rule by which the first group of each match stays, and the rest goes. */
export function keepingFirst(signs: readonly string[], pattern: RegExp): MaskRule {
  return replacing(signs, pattern, ([, kept = '']) => kept + MASK);
}

export function replaceEach(
  text: string,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => string,
): string {
  let masked = '';
  let kept = 0;
  for (const match of text.matchAll(pattern)) {
    masked += text.slice(kept, match.index) + replace(match);
    kept = match.index + match[0].length;
  }
  return kept === 0 ? text : masked + text.slice(kept);
}

/** A rule with more signs than this is as slow to look for as to apply. */
const FEW_SIGNS = 8;

/**
 * Joins rules into one function, which applies them one after the other where their signs are. With the
 * flag `i` it is the same to their signs whether a letter is small or large.
 */
export function joinRules(rules: readonly MaskRule[], flags: '' | 'i'): (text: string) => string {
  const sign = anySign(
    rules.flatMap(({ signs }) => signs),
    flags,
  );
  const steps = rules.map(({ signs, mask }) => ({
    mask,
    sign: signs.length <= FEW_SIGNS ? anySign(signs, flags) : null,
  }));
  return (text) => {
    if (!sign.test(text)) return text;
    let masked = text;
    for (const step of steps) {
      if (step.sign === null || step.sign.test(masked)) masked = step.mask(masked);
    }
    return masked;
  };
}

/** What ends in a letter or a digit and is no part of a word: `\n`, `%3D`, a colour. */
export const ESCAPE = '\\\\(?:[nrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\\[[0-9;]{0,12}m';

/** Where a word begins: the escape in front of it is part of the match. */
export const WORD_START = `(?:(?<![A-Za-z0-9])|${ESCAPE})`;

/** A pattern that finds any of these signs. */
function anySign(signs: readonly string[], flags: '' | 'i'): RegExp {
  const isAtWord = (sign: string): boolean => sign.startsWith('\\b');
  const atWords = signs.filter(isAtWord).map((sign) => sign.slice(2));
  const anywhere = signs.filter((sign) => !isAtWord(sign));
  const atStart = atWords.length > 0 ? [`(?:\\b|_|${ESCAPE})(?:${byFirstLetter(atWords)})`] : [];
  return new RegExp([...atStart, ...anywhere].join('|'), flags);
}

/** The same alternatives by their first letters: at each place most of them are passed over at once. */
export function byFirstLetter(sources: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const source of sources) {
    const letter = /^[A-Za-z0-9]/.exec(source)?.[0] ?? '';
    const group = groups.get(letter) ?? [];
    groups.set(letter, [...group, source.slice(letter.length)]);
  }
  return [...groups].map(([letter, rest]) => `${letter}(?:${rest.join('|')})`).join('|');
}

/** Stands in the place of what was taken out. */
export const MASK = '…[masked]';

/** One kind of thing to mask. */
export interface MaskRule {
  /**
   * Sources of short patterns, one of which is found wherever this rule would change a text. Nearly
   * every text holds no sign at all, so the signs of all rules are looked for at once.
   */
  readonly signs: readonly string[];
  readonly mask: (text: string) => string;
}

/**
 * A rule that replaces each match of a pattern. The pattern has the flag `g`, and is read in linear
 * time: what repeats without bound either ends it, or cannot contain what begins it again. It is made
 * when it is needed: most runs of the program need none.
 */
export function replacing(
  signs: readonly string[],
  pattern: () => RegExp,
  replace: (match: RegExpExecArray) => string,
): MaskRule {
  let made: RegExp | null = null;
  return {
    signs,
    mask(text) {
      made ??= pattern();
      return replaceEach(text, made, replace);
    },
  };
}

/** A rule by which the first group of each match stays, and the rest goes. */
export function keepingFirst(signs: readonly string[], pattern: () => RegExp): MaskRule {
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

/**
 * Joins rules into one function, which applies them one after the other where their signs are. With the
 * flag `i` it is the same to their signs whether a letter is small or large.
 */
export function joinRules(rules: readonly MaskRule[], flags: '' | 'i'): (text: string) => string {
  const anyOf = (signs: readonly string[]): RegExp => new RegExp(signs.join('|'), flags);
  const sign = anyOf(rules.flatMap(({ signs }) => signs));
  let steps: readonly { readonly sign: RegExp; readonly mask: MaskRule['mask'] }[] | null = null;
  return (text) => {
    if (!sign.test(text)) return text;
    steps ??= rules.map(({ signs, mask }) => ({ sign: anyOf(signs), mask }));
    let masked = text;
    for (const step of steps) {
      if (step.sign.test(masked)) masked = step.mask(masked);
    }
    return masked;
  };
}

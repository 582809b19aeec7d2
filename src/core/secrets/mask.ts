/** The text that stands in place of a masked value. */
export const MASK = '…[masked]';

export interface MaskRule {
  /**
   * Sources of short patterns (signs), at least one of which matches in each text that this rule would change. Most
   * texts contain no sign of any rule, so all signs are searched for at once.
   */
  readonly signs: readonly string[];
  readonly mask: (text: string) => string;
}

/**
 * Creates a rule that replaces each match of a pattern. The pattern needs the flag `g` and must run in linear time:
 * an unbounded repetition must be at its end, or must not match the pattern's beginning. It is compiled only when it
 * is first needed.
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

/** Creates a rule that keeps the first group of each match and masks the rest. */
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

/** Combines rules into one function, which applies them in order. With the flag `i`, signs match in any case. */
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

import { MASK, type MaskRule, replacing } from './mask.ts';
import { WORD_START, type WordRule } from './mask-words.ts';
import { INNER_SHAPES, PREFIX_SHAPES, type PrefixShape } from './secret-table.ts';

/*
 * Masks credentials that are recognised by their own shape, wherever they are.
 */

/** Matches the end of a text, where a secret may be cut off. */
const END = '(?=(?:…|\\.\\.\\.)?$)';
/** How many characters must remain of a secret that was cut off. */
const CUT_LEAST = 6;
/** A `mixed` secret must have a small letter, a capital letter and a digit within this many characters. */
const MIXED_WITHIN = 60;

const keepFirst = ([, kept = '']: RegExpExecArray): string => kept + MASK;

function ruleOf(shape: PrefixShape): WordRule {
  return { begins: shape.prefix, pattern: () => patternOf(shape), replace: keepFirst };
}

function patternOf({ prefix, body, least, alone, mixed, exact }: PrefixShape): string {
  const contains = (what: string): string => `(?=${body}{0,${MIXED_WITHIN}}${what})`;
  const notWithin = alone ? '(?<![_./+-])' : '';
  const mixture = mixed ? contains('\\d') + contains('[A-Z]') + contains('[a-z]') : '';
  const secret = exact ? `${body}{${least}}(?![A-Za-z0-9_-])` : `${body}{${least},}`;
  // A name such as `npm_config` at the end of a text must not count as a secret that was cut off.
  const canBeCut = !alone && !mixed && !exact && least > CUT_LEAST;
  const random = `(?=${body}{0,${least}}\\d)(?=${body}{0,${least}}[A-Z])`;
  const cutOff = canBeCut ? `|${random}${body}{${CUT_LEAST},${least}}${END}` : '';
  return `${notWithin}(${prefix})(?:${mixture}${secret}${cutOff})`;
}

/** Matches an AWS access key's id, and the secret key if it follows (CSV, `id:secret`). */
const AWS_KEY =
  '(A[KS]IA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[ \\t"\',:]{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?';
/** Matches an AWS access key's id that was cut off. It must contain a digit, unlike words such as `AKIAEXAMPLE`. */
const CUT_AWS_KEY = `(A[KS]IA)(?=[A-Z]{0,14}\\d)[A-Z0-9]{6,15}${END}`;

/** Matches a JSON web token. `eyJ` is the start of a JSON object in base64; a payload and further parts follow. */
const JSON_WEB_TOKEN =
  '(?<![_-])(eyJ)[\\w-]{12,}\\.(?:eyJ[\\w-]*(?:\\.[\\w-]*)?|[\\w-]{6,}\\.[\\w-]+(?:\\.[\\w-]*){0,2})';

/** Matches the signature in a URL that gives access to a stored file. */
const URL_SIGNATURE = '(?<![_-])((?:sig|X-(?:Amz|Goog)-Signature)=)[A-Za-z0-9%+/_-]{40,}={0,2}';

/** The rules for credentials that begin with their sign. */
export const SHAPE_RULES: readonly WordRule[] = [
  ...PREFIX_SHAPES.map(ruleOf),
  { begins: 'eyJ', pattern: () => JSON_WEB_TOKEN, replace: keepFirst },
  { begins: 'A[KS]I', pattern: () => AWS_KEY, replace: keepFirst },
  { begins: 'A[KS]I', pattern: () => CUT_AWS_KEY, replace: keepFirst },
  { begins: '(?:sig|X-A|X-G)', pattern: () => URL_SIGNATURE, replace: keepFirst },
];

/** The rules for credentials that have their sign in the middle or at the end. */
export const INNER_RULES: readonly MaskRule[] = INNER_SHAPES.map(
  ({ lead, prefix, body, least, sign = prefix }) =>
    replacing(
      [sign],
      () => new RegExp(`(${WORD_START})${lead}(${prefix})${body}{${least},}(?![A-Za-z0-9_])`, 'g'),
      ([, before = '', kept = '']) => before + kept + MASK,
    ),
);

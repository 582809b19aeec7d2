import { MASK, type MaskRule, replacing } from './mask.ts';
import { WORD_START, type WordRule } from './mask-words.ts';
import { INNER_SHAPES, PREFIX_SHAPES, type PrefixShape } from './secret-table.ts';

/*
 * Credentials recognised by their own shape, wherever they are.
 */

/** The end of a text, where a secret may be cut off. */
const END = '(?=(?:…|\\.\\.\\.)?$)';
/** The shortest remainder of a secret that still counts if it was cut off. */
const CUT_LEAST = 6;
/** A mixed secret must have lower case, upper case and digits within this many characters. */
const MIXED_WITHIN = 60;

/** Replaces a match by its first group and the mask. */
const keepFirst = ([, kept = '']: RegExpExecArray): string => kept + MASK;

function ruleOf(shape: PrefixShape): WordRule {
  return { begins: shape.prefix, pattern: () => patternOf(shape), replace: keepFirst };
}

function patternOf({ prefix, body, least, alone, mixed, exact }: PrefixShape): string {
  const contains = (what: string): string => `(?=${body}{0,${MIXED_WITHIN}}${what})`;
  const notWithin = alone ? '(?<![_./+-])' : '';
  const mixture = mixed ? contains('\\d') + contains('[A-Z]') + contains('[a-z]') : '';
  const secret = exact ? `${body}{${least}}(?![A-Za-z0-9_-])` : `${body}{${least},}`;
  // "npm_config" at the end of a text is not a cut-off secret, nor is the start of a name.
  const canBeCut = !alone && !mixed && !exact && least > CUT_LEAST;
  const random = `(?=${body}{0,${least}}\\d)(?=${body}{0,${least}}[A-Z])`;
  const cutOff = canBeCut ? `|${random}${body}{${CUT_LEAST},${least}}${END}` : '';
  return `${notWithin}(${prefix})(?:${mixture}${secret}${cutOff})`;
}

/** An access key's id, and the secret key if it comes next (CSV, `id:secret`). */
const AWS_KEY =
  '(A[KS]IA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[ \\t"\',:]{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?';
/** An access key's id that was cut off. It must contain a digit, since AKIAEXAMPLE is a word. */
const CUT_AWS_KEY = `(A[KS]IA)(?=[A-Z]{0,14}\\d)[A-Z0-9]{6,15}${END}`;

/** `eyJ` is the start of a JSON object in base64; a payload or up to four more parts follow. */
const JSON_WEB_TOKEN =
  '(?<![_-])(eyJ)[\\w-]{12,}\\.(?:eyJ[\\w-]*(?:\\.[\\w-]*)?|[\\w-]{6,}\\.[\\w-]+(?:\\.[\\w-]*){0,2})';

/** The signature of a URL to a stored file, or of shared access to it. */
const URL_SIGNATURE = '(?<![_-])((?:sig|X-(?:Amz|Goog)-Signature)=)[A-Za-z0-9%+/_-]{40,}={0,2}';

/** Rules for shapes that begin with their sign. */
export const SHAPE_RULES: readonly WordRule[] = [
  ...PREFIX_SHAPES.map(ruleOf),
  { begins: 'eyJ', pattern: () => JSON_WEB_TOKEN, replace: keepFirst },
  { begins: 'A[KS]I', pattern: () => AWS_KEY, replace: keepFirst },
  { begins: 'A[KS]I', pattern: () => CUT_AWS_KEY, replace: keepFirst },
  { begins: '(?:sig|X-A|X-G)', pattern: () => URL_SIGNATURE, replace: keepFirst },
];

/** Rules for shapes with their sign further in. */
export const INNER_RULES: readonly MaskRule[] = INNER_SHAPES.map(
  ({ lead, prefix, body, least, sign = prefix }) =>
    replacing(
      [sign],
      () => new RegExp(`(${WORD_START})${lead}(${prefix})${body}{${least},}(?![A-Za-z0-9_])`, 'g'),
      ([, before = '', kept = '']) => before + kept + MASK,
    ),
);

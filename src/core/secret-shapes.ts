import { byFirstLetter, keepingFirst, MASK, type MaskRule, replacing, WORD_START } from './mask.ts';
import { INNER_SHAPES, PREFIX_SHAPES, type PrefixShape } from './secret-table.ts';

/*
 * Credentials that are known by their own shape, wherever they stand.
 */

/** The end of a text, where a secret may be cut off. */
const END = '(?=(?:…|\\.\\.\\.)?$)';
/** The shortest rest of a secret that is believed where it was cut off. */
const CUT_LEAST = 6;
/** How far small and large letters and digits are looked for together. */
const MIXED_WITHIN = 60;

function sourceOf(shape: PrefixShape): string {
  const { prefix, body, least, alone, mixed, exact } = shape;
  const contains = (what: string): string => `(?=${body}{0,${MIXED_WITHIN}}${what})`;
  const notWithin = alone ? `(?<![_./+-]${prefix})` : '';
  const mixture = mixed ? contains('\\d') + contains('[A-Z]') + contains('[a-z]') : '';
  const secret = exact ? `${body}{${least}}(?![A-Za-z0-9_-])` : `${body}{${least},}`;
  // "npm_config" at the end of a text is no secret that was cut off, nor is what could begin a name.
  const canBeCut = !alone && !mixed && !exact && least > CUT_LEAST;
  const random = `(?=${body}{0,${least}}\\d)(?=${body}{0,${least}}[A-Z])`;
  const cutOff = canBeCut ? `|${random}${body}{${CUT_LEAST},${least}}${END}` : '';
  return `${prefix}${notWithin}(?:${mixture}${secret}${cutOff})`;
}

const SHAPED = new RegExp(`${WORD_START}(?:${byFirstLetter(PREFIX_SHAPES.map(sourceOf))})`, 'g');
/** What is kept of such a match. */
const KEPT = new RegExp(`^${WORD_START}(?:${PREFIX_SHAPES.map(({ prefix }) => prefix).join('|')})`);

/** `eyJ` is how a JSON object begins in base64: a header, a payload or four more parts. */
const JSON_WEB_TOKEN = new RegExp(
  `(${WORD_START}eyJ)(?<![_-]eyJ)[\\w-]{12,}\\.(?:eyJ[\\w-]*(?:\\.[\\w-]*)?|[\\w-]{6,}\\.[\\w-]+(?:\\.[\\w-]*){0,2})`,
  'g',
);

/** An access key's id, and the secret key where it stands beside it (CSV, `id:secret`). */
const AWS_ID = `(${WORD_START}A(?:K|S)IA)`;
const AWS_KEY = new RegExp(
  `${AWS_ID}[A-Z0-9]{16}(?![A-Za-z0-9])(?:[ \\t"',:]{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?`,
  'g',
);
const AWS_SIGN = '\\bA(?:K|S)IA[A-Z0-9]{6}';
/** Cut off, it needs a digit: AKIAEXAMPLE is a word. */
const CUT_AWS_KEY = new RegExp(`${AWS_ID}(?=[A-Z]{0,14}\\d)[A-Z0-9]{6,15}${END}`, 'g');

/** The letters of their signs count as they are written. */
export const SHAPE_RULES: readonly MaskRule[] = [
  replacing(
    PREFIX_SHAPES.map(
      ({ prefix, body, least }) => `\\b${prefix}${body}{${Math.min(CUT_LEAST, least)}}`,
    ),
    SHAPED,
    ([found]) => `${KEPT.exec(found)?.[0] ?? ''}${MASK}`,
  ),
  ...INNER_SHAPES.map(({ lead, prefix, body, least, sign = prefix }) =>
    replacing(
      [sign],
      new RegExp(`(${WORD_START})${lead}(${prefix})${body}{${least},}(?![A-Za-z0-9_])`, 'g'),
      ([, before = '', kept = '']) => before + kept + MASK,
    ),
  ),
  keepingFirst(['\\beyJ[\\w-]{12}'], JSON_WEB_TOKEN),
  keepingFirst([AWS_SIGN], AWS_KEY),
  keepingFirst([AWS_SIGN], CUT_AWS_KEY),
];

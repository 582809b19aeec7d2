import { isObject } from '../text/is-object.ts';
import type { Criterion } from './criteria.ts';
import { VERDICT_WORDS, type VerdictWord } from './verdict.ts';

/*
 * Reads from a judge's answer what it says about each criterion. Prose never counts. Only the last JSON object with the
 * nonce (a random word) of this call counts: an object with another nonce may be a quotation from a file in the tree.
 */

/** A place that the judge cites, before it is looked up. */
export interface CitedPlace {
  readonly file: string;
  /** Null if the judge gave no line; NaN if it gave something that is no line number. */
  readonly line: number | null;
  readonly missing: boolean;
}

/** What a judge says about one criterion, before the cited places are looked up. */
export interface CitedCriterion extends Criterion {
  readonly verdict: VerdictWord;
  readonly evidence: string;
  readonly where: readonly CitedPlace[];
}

/** What an answer says, or what is wrong with it as a clause that the judge is told. */
export type ReadAnswer =
  | { readonly kind: 'read'; readonly criteria: readonly CitedCriterion[] }
  | { readonly kind: 'none'; readonly why: string };

/** The call of the judge whose answer is read. */
export interface AskedJudge {
  readonly criteria: readonly Criterion[];
  /** A word that only this call contains. */
  readonly nonce: string;
}

/** An answer in the form in which the agent gave it. */
export interface GivenAnswer {
  /** The object that the agent reports beside its text; null if it reports none. */
  readonly structured: unknown;
  /** The final message; null if there is none. */
  readonly message: string | null;
}

/** How much of an answer is read, in UTF-16 code units. Only the end of a longer answer counts. */
const READ_CHARS = 256 * 1024;

/** Reads the answer of a judge. */
export function readAnswer({ structured, message }: GivenAnswer, asked: AskedJudge): ReadAnswer {
  const given = isObject(structured) ? structured : null;
  const found = given ?? lastObject((message ?? '').slice(-READ_CHARS), asked.nonce);
  if (found !== null) return readVerdict(found, asked);
  const isEmpty = (message ?? '').trim() === '';
  return none(
    isEmpty
      ? 'it was empty'
      : 'it had no object with the nonce of this call in the form that was asked for',
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

function none(why: string): ReadAnswer {
  return { kind: 'none', why };
}

function readVerdict(found: JsonObject, { criteria, nonce }: AskedJudge): ReadAnswer {
  if (found.nonce !== nonce) return none('its nonce was not that of this call');
  if (!Array.isArray(found.criteria)) return none('it had no list of criteria');
  const said = new Map<unknown, CitedCriterion>();
  for (const each of found.criteria) {
    if (!isObject(each)) return none('a criterion in it was no object');
    const criterion = criteria.find(({ id }) => id === each.id);
    if (criterion === undefined) return none('it named a criterion that was not asked for');
    if (said.has(criterion.id)) return none(`it named ${criterion.id} twice`);
    const verdict = VERDICT_WORDS.find((word) => word === each.verdict);
    if (verdict === undefined) {
      return none(`its verdict on ${criterion.id} was not one of ${VERDICT_WORDS.join(', ')}`);
    }
    const evidence = typeof each.evidence === 'string' ? each.evidence : '';
    said.set(criterion.id, { ...criterion, verdict, evidence, where: placesIn(each.where) });
  }
  const ordered = criteria.flatMap(({ id }) => said.get(id) ?? []);
  const left = criteria.find(({ id }) => !said.has(id));
  return left === undefined
    ? { kind: 'read', criteria: ordered }
    : none(`it did not name ${left.id}`);
}

const MOST_PLACES = 20;
const LONGEST_PATH = 1_000;

function placesIn(where: unknown): readonly CitedPlace[] {
  if (!Array.isArray(where)) return [];
  return where
    .flatMap((each) =>
      isObject(each) && typeof each.file === 'string' ? [placeIn(each, each.file)] : [],
    )
    .filter(({ file }) => file.trim() !== '' && file.length <= LONGEST_PATH)
    .slice(0, MOST_PLACES);
}

function placeIn(place: JsonObject, file: string): CitedPlace {
  const { line } = place;
  const isWithout = line === undefined || line === null;
  const number = typeof line === 'number' && Number.isInteger(line) ? line : Number.NaN;
  return { file, line: isWithout ? null : number, missing: place.missing === true };
}

/** How many characters the search for objects reads in all. The limit keeps a hostile answer from costing much time. */
const LOOKED_AT = 20_000_000;

function lastObject(text: string, nonce: string): JsonObject | null {
  const room = { left: LOOKED_AT };
  for (let at = text.lastIndexOf(nonce); at > 0; at = text.lastIndexOf(nonce, at - 1)) {
    const found = objectAround(text, at, nonce, room);
    if (found !== null) return found;
    if (room.left <= 0) return null;
  }
  return null;
}

/** Returns the smallest object that contains a position and has the nonce; null if there is none. */
function objectAround(
  text: string,
  at: number,
  nonce: string,
  room: { left: number },
): JsonObject | null {
  for (let start = text.lastIndexOf('{', at); start >= 0; ) {
    const end = endOfObject(text, start, room);
    if (end !== null && end > at) {
      const object = parsed(text.slice(start, end));
      if (object?.nonce === nonce) return object;
    }
    if (room.left <= 0 || start === 0) return null;
    start = text.lastIndexOf('{', start - 1);
  }
  return null;
}

/** Returns the position after the bracket that closes an object; null if it is never closed. */
function endOfObject(text: string, start: number, room: { left: number }): number | null {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    room.left -= 1;
    const sign = text.charAt(at);
    if (inString) {
      if (sign === '\\') at += 1;
      else if (sign === '"') inString = false;
    } else if (sign === '"') {
      inString = true;
    } else if (sign === '{') {
      depth += 1;
    } else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

function parsed(text: string): JsonObject | null {
  for (const json of [text, withEscapedLineEnds(text)]) {
    try {
      const value: unknown = JSON.parse(json);
      return isObject(value) ? value : null;
    } catch {
      // The text may be valid JSON in the next form.
    }
  }
  return null;
}

/** Escapes line ends and tabs inside strings, where models often write them unescaped. */
function withEscapedLineEnds(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (string) =>
    string.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t'),
  );
}

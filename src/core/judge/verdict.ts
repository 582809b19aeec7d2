import { oneLine } from '../text/untrusted-text.ts';

/* The verdict of a judge (a second agent) on a claim of completion, as it is stored in the proof and in events. */

/** The words with which a judge rates a criterion. */
export const VERDICT_WORDS = ['met', 'not-met', 'unclear'] as const;

export type VerdictWord = (typeof VERDICT_WORDS)[number];

/** A place in the claimed tree (the one said to be complete), relative to its root. */
export interface JudgedPlace {
  readonly file: string;
  /** Counted from 1; absent for the whole file. */
  readonly line?: number;
  /** Set if the tree has no such file. */
  readonly missing?: true;
}

/** What the judge says about one criterion. */
export interface JudgedCriterion {
  readonly id: string;
  readonly text: string;
  readonly verdict: VerdictWord;
  readonly evidence: string;
  /** Only the places that ralph could confirm. */
  readonly where: readonly JudgedPlace[];
}

/** What the judge says about a claim. */
export interface JudgeVerdict {
  readonly agent: string;
  /** Null if the judge used its agent's default model. */
  readonly model: string | null;
  /** Hash of the tree that was judged; null if there was none. */
  readonly tree: string | null;
  /** `none`: the judge gave no verdict. */
  readonly verdict: VerdictWord | 'none';
  /** Why there is no verdict, as a clause such as `codex gave no verdict`; null if there is one. */
  readonly why: string | null;
  readonly criteria: readonly JudgedCriterion[];
  /** The cost of judging this tree, in US dollars. */
  readonly cost_usd: number;
}

/** Returns the verdict on all criteria: `not-met` if one is not met, otherwise `unclear` if one is, otherwise `met`. */
export function verdictOf(criteria: readonly JudgedCriterion[]): VerdictWord {
  const words = criteria.map(({ verdict }) => verdict);
  if (words.includes('not-met')) return 'not-met';
  return words.includes('unclear') ? 'unclear' : 'met';
}

/** Says how many criteria are met, and which are not: `codex: 3 of 4 met, unclear: c2`. */
export function countsText({ agent, criteria }: Pick<JudgeVerdict, 'agent' | 'criteria'>): string {
  const met = criteria.filter(({ verdict }) => verdict === 'met').length;
  const named = (word: VerdictWord): readonly string[] => {
    const ids = criteria.filter(({ verdict }) => verdict === word).map(({ id }) => id);
    return ids.length === 0 ? [] : [`${word.replace('-', ' ')}: ${fewIds(ids)}`];
  };
  const counts = [`${met} of ${criteria.length} met`, ...named('not-met'), ...named('unclear')];
  return `${agent}: ${counts.join(', ')}`;
}

const IDS_NAMED = 5;

function fewIds(ids: readonly string[]): string {
  const more = ids.length - IDS_NAMED;
  return `${ids.slice(0, IDS_NAMED).join(' ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Says in a clause how a claim was judged, or why it was not. */
export function judgedText(verdict: JudgeVerdict): string {
  return verdict.verdict === 'none'
    ? `not judged: ${verdict.why ?? 'there is no verdict'}`
    : `judged by ${countsText(verdict)}`;
}

/** Says in one line what the judge says about a criterion, with its evidence and places. */
export function criterionLine({ id, text, verdict, evidence, where }: JudgedCriterion): string {
  const places = where.length === 0 ? '' : ` (${where.map(placeText).join(', ')})`;
  const because = evidence === '' ? '' : ` — ${evidence}`;
  return oneLine(`${id} ${verdict.replace('-', ' ')}: ${text}${because}${places}`, 1_500);
}

function placeText({ file, line, missing }: JudgedPlace): string {
  if (missing === true) return `${file} is missing`;
  return line === undefined ? file : `${file}:${line}`;
}

/** Returns a line for each criterion with what the judge says, or one line with the reason if there is no verdict. */
export function verdictLines(verdict: JudgeVerdict): readonly string[] {
  const { criteria, agent } = verdict;
  return verdict.verdict === 'none'
    ? [oneLine(judgedText(verdict), 1_000)]
    : criteria.map((each) => `${oneLine(agent, 80)}: ${criterionLine(each)}`);
}

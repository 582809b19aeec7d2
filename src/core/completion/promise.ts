import { hasOpenBox } from '../markdown/checkbox.ts';
import type { NonProse } from '../markdown/non-prose.ts';
import {
  anywhere,
  foldSpace,
  lastMention,
  type Mention,
  REPLACEMENT_CHARACTERS,
  type Span,
} from '../markdown/phrase.ts';
import type { MatchRule } from '../task/policy.ts';
import { clip } from '../text/untrusted-text.ts';
import { type PromptText, removeEchoes } from './echoes.ts';
import { markVeiled, visible } from './invisible.ts';
import { readPlacement } from './statement.ts';

export type { PromptText } from './echoes.ts';

/** What a message says about the promise (the text for "done"). `line` is the evidence: at most 200 code units. */
export type PromiseVerdict =
  /** The promise is stated according to the requested rule. */
  | { readonly kind: 'stated'; readonly line: string }
  /** The agent may or may not mean the promise as a statement, so it should be asked. */
  | {
      readonly kind: 'in-doubt';
      readonly line: string;
      readonly where: /** With its tags, alone on a line that is not the last. */
        | 'earlier-line'
        /** Without its tags `<promise>`, as the last sentence. */
        | 'closing-sentence'
        /** The text before it may not be finished: `I will end with:`, `ggf.`, half a sentence. */
        | 'after-open-sentence'
        /** Below a paragraph that may not be finished, or that points at the text below it. */
        | 'below-open-paragraph'
        /** With its tags at the end of the last line, behind a clause, a label, a bullet or a number. */
        | 'shared-line'
        /** With invisible characters inside. */
        | 'veiled';
    }
  /** The promise appears, but not as a statement that counts. */
  | {
      readonly kind: 'near-miss';
      readonly line: string;
      readonly why: NearMissReason;
      /** The message of a hook that kept the agent from ending; absent if no hook did. */
      readonly said?: string;
    }
  /** The promise does not appear, except in echoes of what ralph itself wrote. */
  | { readonly kind: 'absent' };

export type NearMissReason =
  | NonProse
  /** The promise's line contains other words. */
  | 'in-a-sentence'
  /** Alone on its line, but decorated: with a bullet, quotes, strike-through, `?`, `…`. */
  | 'decorated'
  /** It would count at the end of the message, but other text follows. */
  | 'not-at-the-end'
  /** Alone on a line, but an unticked box follows in the message. */
  | 'before-an-open-box'
  /** Stated without its tags, although the rule is `tag`. */
  | 'untagged'
  /** Only with invisible characters inside, although the rule is `contains`. */
  | 'veiled'
  | 'not-ended-well'
  /** After the promise, a Stop hook of the user did not let the agent end. */
  | 'stop-hook';

/**
 * Judges the agent's final message by a match rule. Repetitions of `ownTexts`, which ralph put into the prompt, do not
 * count. An empty promise is absent from every message. Never throws. The rules are in docs/completion.md.
 */
export function judgePromise(
  message: string,
  promise: string,
  rule: MatchRule,
  ownTexts: readonly PromptText[],
): PromiseVerdict {
  const given = untagged(promise);
  const phrase = foldSpace(visible(given));
  if (phrase === '') return { kind: 'absent' };
  const own = ownTexts.map((one) => ({ ...one, text: markVeiled(one.text, given) }));
  const text = removeEchoes(markVeiled(message, given), own, phrase);
  const first = new RegExp(anywhere(phrase), 'u').exec(text);
  if (first === null) return { kind: 'absent' };
  if (rule === 'contains') {
    const seen = new RegExp(`(?<!${REPLACEMENT_CHARACTERS.veil})${anywhere(phrase)}`, 'u').exec(
      text,
    );
    const { index, 0: found } = seen ?? first;
    const line = lineOf(text, { from: index, to: index + found.length });
    return seen === null ? { kind: 'near-miss', why: 'veiled', line } : { kind: 'stated', line };
  }
  return judgeStatement(text, phrase, rule);
}

/**
 * Whether the message states a signal or an abort phrase that the user chose. Two doubtful places count, too (the
 * closing sentence, and below an unfinished paragraph), since the agent is never asked whether it means such a phrase.
 */
export function statesPhrase(
  message: string,
  phrase: string,
  ownTexts: readonly PromptText[],
): boolean {
  const verdict = judgePromise(message, phrase, 'statement', ownTexts);
  return (
    verdict.kind === 'stated' ||
    (verdict.kind === 'in-doubt' &&
      (verdict.where === 'closing-sentence' || verdict.where === 'below-open-paragraph'))
  );
}

/** Strips the tags of a promise that was given as `<promise>X</promise>`. */
export function untagged(promise: string): string {
  const inner = /^\s*<promise>([\s\S]*)<\/promise>\s*$/.exec(promise)?.[1];
  return foldSpace(inner ?? promise);
}

/** Judges the last mention of the promise, since a later mention revokes or explains an earlier statement. */
function judgeStatement(text: string, promise: string, rule: 'statement' | 'tag'): PromiseVerdict {
  // Signs of Markdown in the promise are replaced. Otherwise it would be read as Markdown and could never be stated.
  const phrase = shield(promise);
  const shielded =
    phrase === promise ? text : text.replace(new RegExp(anywhere(promise), 'gu'), shield);
  const mention = lastMention(shielded, phrase);
  if (mention === null) return { kind: 'absent' };
  const judged = judgeMention(shielded, phrase, mention);
  const isVeiled = judged.kind === 'stated' && mention.veiled;
  const verdict: Exclude<PromiseVerdict, { kind: 'absent' }> = {
    ...(isVeiled ? { kind: 'in-doubt', where: 'veiled' } : judged),
    line: lineOf(text, mention),
  };
  const wouldCount = verdict.kind !== 'near-miss' || verdict.why === 'not-at-the-end';
  return rule === 'tag' && !mention.tagged && wouldCount
    ? { kind: 'near-miss', line: verdict.line, why: 'untagged' }
    : verdict;
}

type WithoutLine<V> = V extends { readonly line: string } ? Omit<V, 'line'> : never;

function judgeMention(text: string, phrase: string, mention: Mention): WithoutLine<PromiseVerdict> {
  const stand = readPlacement(text, mention, phrase);
  const { tagged } = mention;
  switch (stand.kind) {
    case 'shown':
      return { kind: 'near-miss', why: stand.why };
    case 'own-line': {
      const { above, isLast } = stand;
      if (!isLast) return judgeEarlier(text.slice(mention.to), tagged, above === 'open');
      if (above === 'open') return { kind: 'in-doubt', where: 'after-open-sentence' };
      if (above === 'unfinished') return { kind: 'in-doubt', where: 'below-open-paragraph' };
      return tagged || above === 'closed'
        ? { kind: 'stated' }
        : { kind: 'in-doubt', where: 'closing-sentence' };
    }
    case 'closing':
      if (!stand.isLast) return { kind: 'near-miss', why: 'not-at-the-end' };
      if (!tagged) return { kind: 'in-doubt', where: 'closing-sentence' };
      return stand.behind === 'certain' && !stand.isListed
        ? { kind: 'stated' }
        : { kind: 'in-doubt', where: 'after-open-sentence' };
    case 'shared-line':
      return { kind: 'in-doubt', where: 'shared-line' };
    case 'in-between':
      return { kind: 'near-miss', why: 'not-at-the-end' };
    case 'in-a-sentence':
    case 'decorated':
      return { kind: 'near-miss', why: stand.kind };
  }
}

/** Judges a mention that is alone on a line that is not the last line. */
function judgeEarlier(
  behind: string,
  tagged: boolean,
  isOpenAbove: boolean,
): WithoutLine<PromiseVerdict> {
  if (hasOpenBox(behind)) return { kind: 'near-miss', why: 'before-an-open-box' };
  if (!tagged) return { kind: 'near-miss', why: 'not-at-the-end' };
  return isOpenAbove
    ? { kind: 'near-miss', why: 'in-a-sentence' }
    : { kind: 'in-doubt', where: 'earlier-line' };
}

function shield(promise: string): string {
  return promise.replace(/[`~#>|<=[]/g, REPLACEMENT_CHARACTERS.shield);
}

const LONGEST_LINE = 200;

/** Returns the line that contains the span, as evidence. A long line is cut around the span. */
function lineOf(text: string, { from, to }: Span): string {
  const start = Math.max(text.lastIndexOf('\n', from - 1) + 1, from - 60);
  const lineEnd = text.indexOf('\n', to);
  const end = Math.min(lineEnd === -1 ? text.length : lineEnd, start + 2 * LONGEST_LINE);
  // The cut may have split a surrogate pair.
  const line = text.slice(start, end).replace(/^[\udc00-\udfff]/, '');
  const { echo, veil } = REPLACEMENT_CHARACTERS;
  return clip(foldSpace(line).replaceAll(veil, '').replaceAll(echo, '…'), LONGEST_LINE);
}

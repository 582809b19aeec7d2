import type { PromiseVerdict } from './promise.ts';

/** A place where a statement may or may not be meant. */
export type DoubtfulPlace = Extract<PromiseVerdict, { kind: 'in-doubt' }>['where'];

/** Each place in words, to follow "stated the promise". */
export const PLACES: Readonly<Record<DoubtfulPlace, string>> = {
  'earlier-line': 'on an earlier line, with more text behind it',
  'closing-sentence': 'at its end, without its tags and behind other words',
  'after-open-sentence': 'at its end, behind words that may not be a finished sentence',
};

/**
 * The question that an agent is asked back. It has the promise inside a sentence, so that an agent that
 * repeats the question does not state the promise.
 */
export function backQuestion(promise: string, where: DoubtfulPlace): string {
  return [
    `Is the task complete? Your last message stated the promise ${PLACES[where]}: that can be meant or not.`,
    `If the task is truly complete, answer with nothing but the statement <promise>${promise}</promise> on a line by itself.`,
    'If anything is missing, fails or was not checked, say what, and leave the promise out.',
    'Do no further work now.',
  ].join(' ');
}

import type { DoubtfulPlace } from './promise.ts';

/** Where a statement stood that may be meant or not, as a part of a sentence. */
export const PLACES: Readonly<Record<DoubtfulPlace, string>> = {
  'earlier-line': 'on an earlier line, with more text behind it',
  'closing-sentence': 'as a closing sentence, without its tags',
  'after-abbreviation': 'on its last line, behind other words',
};

/**
 * The one question that is asked back. The promise stands inside a sentence of it, so that an agent
 * that repeats the question states nothing.
 */
export function backQuestion(promise: string, where: DoubtfulPlace): string {
  return [
    `Is the task complete? Your last message stated the promise ${PLACES[where]}: that can be meant or not.`,
    `If the task is truly complete, answer with nothing but the statement <promise>${promise}</promise> on a line by itself.`,
    'If anything is missing, fails or was not checked, say what, and leave the promise out.',
    'Do no further work now.',
  ].join(' ');
}

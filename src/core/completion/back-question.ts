import type { PromiseVerdict } from './promise.ts';

/** A place in a message where it is doubtful whether the agent means the promise (the text that says "done"). */
export type DoubtfulPlace = Extract<PromiseVerdict, { kind: 'in-doubt' }>['where'];

/** The words for each place. They follow the words "stated the promise". */
export const PLACES: Readonly<Record<DoubtfulPlace, string>> = {
  'earlier-line': 'on an earlier line, with more text behind it',
  'closing-sentence': 'at its end, without its tags and behind other words',
  'after-open-sentence': 'at its end, behind words that may not be a finished sentence',
  'below-open-paragraph': 'at its end, below a paragraph that may not be finished',
  'shared-line': 'at its end, but not on a line of its own',
  veiled: 'at its end, with invisible characters inside it',
};

/** Builds the question whether the task is complete. An agent that repeats the question does not state the promise. */
export function backQuestion(promise: string, where: DoubtfulPlace): string {
  return [
    `Is the task complete? Your last message stated the promise ${PLACES[where]}: that can be meant or not.`,
    `If the task is truly complete, answer with nothing but the statement <promise>${promise}</promise> on a line by itself.`,
    'If anything is missing, fails or was not checked, say what, and leave the promise out.',
    'Do no further work now.',
  ].join(' ');
}

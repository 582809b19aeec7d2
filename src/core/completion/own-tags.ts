import type { NonProse } from '../markdown/non-prose.ts';
import { plainText } from '../markdown/phrase.ts';
import { maskNonProse, whyMasked } from '../markdown/prose.ts';
import type { PromptText } from './echoes.ts';

/** Finds the tags that the agent wrote for ralph. Leaves out tags inside the kinds of text that `shown` lists. */
export function tagsIn(
  message: string,
  tag: RegExp,
  shown: readonly NonProse[],
): readonly RegExpExecArray[] {
  const text = plainText(message);
  const found = [...text.matchAll(tag)];
  // Most messages contain no tag, and finding the parts of a message that are not prose is slow.
  if (found.length === 0) return [];
  const prose = maskNonProse(text);
  const isShown = (at: number): boolean => shown.some((why) => why === whyMasked(prose, at));
  return found.filter(({ 0: all, index }) => !isShown(index) && !isShown(index + all.length - 1));
}

/** Reads the examples of a tag in ralph's own texts, which do not count if the agent repeats them. */
export function examplesIn<T>(own: readonly PromptText[], read: (text: string) => T): readonly T[] {
  return own.filter(({ kind }) => kind === 'sentence-wise').map(({ text }) => read(text));
}

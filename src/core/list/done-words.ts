/** The fields that say with `true` or `false` whether an item is done. */
export const DONE_SWITCHES = ['passes', 'tested', 'completed', 'done'] as const;
/** The fields that say with a word whether an item is done. The first one that an item has counts. */
export const DONE_FIELDS = ['status', 'state'] as const;

const DONE = new Set([
  'done',
  'completed',
  'complete',
  'closed',
  'passed',
  'cancelled',
  'canceled',
]);
/** The words that mean that a person has decided against an item. */
const LEFT_OUT = new Set(['blocked', 'deferred', 'wontfix']);

/** Returns what a word in a field such as `status` says about an item. */
export function standingOfWord(word: string): 'open' | 'done' | 'left-out' {
  const plain = plainWord(word);
  return DONE.has(plain) ? 'done' : LEFT_OUT.has(plain) ? 'left-out' : 'open';
}

/** Returns the word for done items that a list already uses, or `done` if it uses none. "Cancelled" does not count. */
export function doneWordAmong(words: readonly string[]): string {
  const used = words.find(
    (word) => standingOfWord(word) === 'done' && !plainWord(word).startsWith('cancel'),
  );
  return used ?? 'done';
}

function plainWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]+/g, '');
}

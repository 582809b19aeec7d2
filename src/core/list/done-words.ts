/** The fields that say by true or false whether an item is done. */
export const DONE_SWITCHES = ['passes', 'tested', 'completed', 'done'] as const;
/** The fields that say it by a word; the first that is there counts. */
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
/** A person's decision against an item. */
const LEFT_OUT = new Set(['blocked', 'deferred', 'wontfix']);

/** Returns what a word in a field such as `status` says of an item. */
export function standingOfWord(word: string): 'open' | 'done' | 'left-out' {
  const plain = plainWord(word);
  return DONE.has(plain) ? 'done' : LEFT_OUT.has(plain) ? 'left-out' : 'open';
}

/** Returns the word for a done item that a list uses already, else `done`. A cancelled item was not done. */
export function doneWordAmong(words: readonly string[]): string {
  const used = words.find(
    (word) => standingOfWord(word) === 'done' && !plainWord(word).startsWith('cancel'),
  );
  return used ?? 'done';
}

function plainWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]+/g, '');
}

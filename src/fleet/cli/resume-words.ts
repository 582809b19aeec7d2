import { UsageError } from '../../errors.ts';

/** The words of `ralph resume` that say where the task is. */
export interface StoreWords {
  readonly fleet?: string;
  readonly vault?: string;
  readonly stateDir?: string;
}

/** Takes `--fleet URL` out of the words of `ralph resume`, whose other flags are settings. Throws a `UsageError`. */
export function takeFleet(argv: readonly string[]): {
  readonly store: StoreWords;
  readonly words: readonly string[];
} {
  const dashes = argv.indexOf('--');
  const own = dashes === -1 ? argv : argv.slice(0, dashes);
  const words: string[] = [];
  let fleet: string | undefined;
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at] ?? '';
    if (word === '--fleet') {
      at += 1;
      fleet = own[at];
      if (fleet === undefined) throw new UsageError(['--fleet needs a value, but none was given.']);
    } else if (word.startsWith('--fleet=')) fleet = word.slice('--fleet='.length);
    else words.push(word);
  }
  return {
    store: fleet === undefined ? {} : { fleet },
    words: [...words, ...argv.slice(own.length)],
  };
}

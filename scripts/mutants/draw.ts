import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parses, placesOf } from './mutations.ts';

/** A file with one mutation. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly operator: string;
  readonly before: string;
  readonly after: string;
  /** The whole file as it is with it. */
  readonly text: string;
}

/**
 * Draws places of files by a seed, and one mutation of each. What decides is the text of the line, not
 * its number: a change elsewhere, in the same file too, leaves nearly all that was drawn.
 */
export function drawMutants(
  root: string,
  files: readonly string[],
  seed: string,
  count: number,
): readonly Mutant[] {
  const places: { rank: string; mutants: readonly Mutant[] }[] = [];
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const seen = new Map<string, number>();
    for (const mutations of placesOf(text)) {
      const mutants = mutations.map(({ operator, start, end, after }): Mutant => {
        const lines = text.slice(0, start).split('\n');
        const column = (lines.at(-1)?.length ?? 0) + 1;
        const mutated = text.slice(0, start) + after + text.slice(end);
        const before = text.slice(start, end);
        return { file, line: lines.length, column, operator, before, after, text: mutated };
      });
      const line = text.split('\n')[(mutants[0]?.line ?? 0) - 1] ?? '';
      const indent = line.length - line.trimStart().length;
      const key = [
        seed,
        file,
        line.trim(),
        (mutants[0]?.column ?? 0) - indent,
        mutants[0]?.operator,
      ];
      const nth = seen.get(key.join('\n')) ?? 0;
      seen.set(key.join('\n'), nth + 1);
      const rank = createHash('sha256')
        .update([...key, nth].join('\n'))
        .digest('hex');
      places.push({ rank, mutants });
    }
  }
  places.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const drawn: Mutant[] = [];
  for (const { rank, mutants } of places) {
    if (drawn.length >= count) break;
    const mutant = mutants[Number.parseInt(rank.slice(-8), 16) % mutants.length];
    if (mutant !== undefined && parses(mutant.text)) drawn.push(mutant);
  }
  return drawn;
}

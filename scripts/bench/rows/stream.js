import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeStream } from '../stream-json.js';
import { timeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

const MB = 1e6;

/**
 * A short and a long stream: they differ in the bytes alone. The same through `cat`, into a file as
 * ralph's log is one.
 */
export function stream(/** @type {Bench} */ { scene, runs }) {
  const sizes = { short: 4 * MB, long: 400 * MB };
  const peakFile = join(scene.root, 'peak');
  /** @type {Record<'short' | 'long', number[]>} */
  const peaks = { short: [], long: [] };

  const through = (/** @type {'short' | 'long'} */ size) => {
    const file = join(scene.root, `${size}.jsonl`);
    writeStream(file, sizes[size]);
    const agent = scene.script(`${size}-agent`, `exec cat '${file}'`);
    const run = scene.run({ agent, preload: 'peak-memory', env: { BENCH_PEAK_FILE: peakFile } });
    const ralph = {
      ...run,
      after() {
        peaks[size].push(Number(readFileSync(peakFile, 'utf8')) / MB);
        run.after();
      },
    };
    const log = join(scene.root, 'log');
    const cat = scene.program(['/bin/sh', '-c', `'${agent}' | cat >'${log}'; rm '${log}'`]);
    return { ralph, cat };
  };
  const short = through('short');
  const long = through('long');
  const rounds = timeInTurn(runs, {
    short: short.ralph,
    long: long.ralph,
    shortCat: short.cat,
    longCat: long.cat,
  });
  // The warm-up's is among them: a peak needs no warming.
  const pairs = peaks.long.map((peak, index) => peak - (peaks.short[index] ?? Number.NaN));
  const rate = (/** @type {number} */ longMs, /** @type {number} */ shortMs) =>
    (sizes.long - sizes.short) / MB / ((longMs - shortMs) / 1000);
  return [
    { values: peaks.long },
    { values: pairs },
    { values: rounds.map((round) => rate(round.long, round.short)) },
    { values: rounds.map((round) => rate(round.longCat, round.shortCat)) },
  ];
}

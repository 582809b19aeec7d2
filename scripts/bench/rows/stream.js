import { join } from 'node:path';
import { writeStream } from '../stream-json.js';
import { timeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */

const MB = 1e6;

/** A short and a long stream: they differ in the bytes alone. */
export function stream(/** @type {Bench} */ { scene, runs }) {
  const sizes = { short: 4 * MB, long: 400 * MB };
  const through = (/** @type {'short' | 'long'} */ size) => {
    const file = join(scene.root, `${size}.jsonl`);
    writeStream(file, sizes[size]);
    const agent = scene.script(`${size}-agent`, `exec cat '${file}'`);
    return scene.withPeaks(scene.run({ agent }));
  };
  const short = through('short');
  const long = through('long');
  const rounds = timeInTurn(runs, { short: short.command, long: long.command });
  // The warm-up's is among them: a peak needs no warming.
  const pairs = long.peaks.map((peak, index) => peak - (short.peaks[index] ?? Number.NaN));
  const megabytes = (sizes.long - sizes.short) / MB;
  return [
    { values: long.peaks },
    { values: pairs },
    { values: rounds.map((round) => megabytes / ((round.long - round.short) / 1000)) },
  ];
}

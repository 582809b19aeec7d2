import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eachOf, seeded } from '../helpers/fault-scene.ts';
import {
  comparePlays,
  findKillPoints,
  type KillPoint,
  playSnapshotKills,
} from '../helpers/snapshot-kills.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// Ralph, or a git of its own, is killed while it takes a snapshot, undoes or redoes, and the same command
// is given again. `npm run campaign:snapshots` kills at every point; here it is a sample of them.

const KILLS = Number(process.env.RALPH_SNAPSHOT_KILLS ?? 6);
const SEED = Number(process.env.RALPH_FAULT_SEED ?? Date.now() % 1_000_000);
const HAS_STRACE = spawnSync('strace', ['-V']).status === 0;

test.skipIf(!HAS_STRACE)(
  `a kill in the middle of a snapshot or an undo loses nothing (RALPH_FAULT_SEED=${SEED})`,
  async () => {
    const root = await tempFolder();
    const expected = await playSnapshotKills(join(root, 'undisturbed'), null);
    expect(expected.problems).toEqual([]);
    const random = seeded(SEED);
    const all = await findKillPoints(join(root, 'traced'));
    const drawn = all
      .map((point) => ({ point, rank: random() }))
      .sort((one, other) => one.rank - other.rank)
      .slice(0, KILLS)
      .map(({ point }) => point);
    const atRandom: KillPoint = { step: 'run', how: 'all', ms: random() * expected.durations.run };
    const problems: string[] = [];
    await eachOf([...drawn, atRandom], 3, async (point) => {
      const play = await playSnapshotKills(join(root, `room-${all.indexOf(point)}`), point);
      const name = JSON.stringify(point);
      problems.push(...comparePlays(play, expected).map((each) => `${name}: ${each}`));
    });
    expect(problems).toEqual([]);
  },
);

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTreeKeeper, type TreeKeeper } from '../../src/effects/snapshots/keeper/tree-keeper.ts';
import { type LegTreeRequest, makeLegTree } from '../../src/fleet/origin/leg-tree.ts';
import { type Mirror, openMirror } from '../../src/fleet/origin/mirror.ts';
import { PATIENCE_MS } from './patience.ts';
import { type Files, GIT_ENV, gitIn, makeRepository } from './repository.ts';
import { idsInMemory } from './snapshots.ts';
import { tempFolder } from './temp-folder.ts';

export const NO_SIGNAL = new AbortController().signal;
export const NOW = '2026-01-01T00:00:00.000Z';

/** A bare repository as an origin, with one commit on `main`. */
export async function makeOrigin(files: Files = { 'a.txt': 'a\n' }) {
  const { folder: source } = await makeRepository(files);
  const url = join(await tempFolder(), 'origin.git');
  gitIn(source)('clone', '-q', '--bare', source, url);
  const git = gitIn(url);
  return { url, git, source, first: git('rev-parse', 'main') };
}

/** Has an origin refuse each push, with a sentence. */
export function refusePushes(url: string, says: string): void {
  const hook = join(url, 'hooks', 'pre-receive');
  mkdirSync(join(url, 'hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\necho '${says}' >&2\nexit 1\n`);
  chmodSync(hook, 0o755);
}

export async function mirrorOf(
  url: string,
  more: {
    readonly home?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly timeoutMs?: number;
  } = {},
): Promise<Mirror> {
  const { home = await tempFolder(), env = GIT_ENV, timeoutMs = PATIENCE_MS } = more;
  return openMirror({ home, url, env, runId: 'run', signal: NO_SIGNAL, timeoutMs });
}

/** Makes a work tree of a leg, in a folder of its own. */
export async function legTreeOf(
  mirror: Mirror,
  more: Partial<LegTreeRequest> & Pick<LegTreeRequest, 'head'>,
) {
  const folder = more.folder ?? (await tempFolder());
  const end = await makeLegTree({
    ...{ mirror, folder, snapshot: null, branch: 'ralph/t', url: mirror.url, env: GIT_ENV },
    ...{ signal: NO_SIGNAL, timeoutMs: PATIENCE_MS },
    ...more,
  });
  if (end.kind !== 'made') throw new Error(end.why);
  return { leg: folder, tree: end.folder, git: gitIn(end.folder), unfiltered: end.unfiltered };
}

/** The snapshots of a work tree, as a run keeps them. */
export async function keeperOf(
  tree: string,
  env: NodeJS.ProcessEnv = GIT_ENV,
): Promise<TreeKeeper> {
  const keeper = await openTreeKeeper({
    ...{ cwd: tree, excluded: [], excludedGlobs: [], maxBytes: 1_000, taskId: 't' },
    ids: idsInMemory(),
    ...{ folder: await tempFolder(), env, runId: 'run', signal: NO_SIGNAL, now: () => NOW },
    warn(why) {
      throw new Error(why);
    },
    notice() {},
  });
  if (keeper === null) throw new Error('no keeper');
  return keeper;
}

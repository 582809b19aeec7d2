import path from 'node:path';
import { commandsToCheck } from '../core/completion/conditions/conditions.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import { type ProofFacts, proofStatement } from '../core/proof/statement.ts';
import { findJudges, judgeDigests } from '../effects/proof/judge-look.ts';
import { writeProof } from '../effects/proof/proof-file.ts';
import { subjectsOf } from '../effects/proof/proof-subjects.ts';
import type { TreeKeeper } from '../effects/snapshots/tree-keeper.ts';
import type { ClaimedRun } from './held-run.ts';

/**
 * Writes the proof of a completed task beside its state. The task may have been told before, by a driver that
 * died: then the same is written again. Rejects if git or the system fails.
 */
export async function keepProof(
  { plan, paths, seal }: ClaimedRun,
  keeper: TreeKeeper | null,
  { task, proof }: LoopState,
): Promise<void> {
  if (proof === undefined) return;
  const { tree, checks, findings, changedTests } = proof;
  const { settings, policy, cwd } = plan;
  const folder = keeper === null ? '' : path.relative(keeper.git.repository.root, cwd);
  const known =
    keeper === null || tree === null
      ? NOTHING_KNOWN
      : await factsOfTree(keeper, tree, { checks: commandsToCheck(policy), folder });
  const statement = proofStatement({
    ...{ tree, checks, findings, changedTests, ...known },
    setup: {
      ...{ folder, setup: settings.setup, copy: settings.copy },
      timeoutMs: policy.iterationTimeoutMs,
    },
  });
  await writeProof(paths.folder, statement, { seal, run: task });
}

type FactsOfTree = Pick<ProofFacts, 'committedTree' | 'commit' | 'judges'>;

const NOTHING_KNOWN: FactsOfTree = { committedTree: null, commit: null, judges: [] };

async function factsOfTree(
  { git }: TreeKeeper,
  tree: string,
  place: { readonly checks: readonly string[]; readonly folder: string },
): Promise<FactsOfTree> {
  const { files } = await findJudges({ git, ...place }, tree);
  const judges = await judgeDigests(git, tree, files);
  return { ...(await subjectsOf(git, tree)), judges };
}

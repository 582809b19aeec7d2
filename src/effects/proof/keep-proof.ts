import path from 'node:path';
import type { LoopState } from '../../core/machine/loop-state.ts';
import { type CheckSetup, type ProofFacts, proofStatement } from '../../core/proof/statement.ts';
import type { PrivateGit } from '../git/private-git.ts';
import type { Seal } from '../trust/seal.ts';
import { deciderDigests, findDeciders } from './decider-look.ts';
import { writeProof } from './proof-file.ts';
import { subjectsOf } from './proof-subjects.ts';

export interface ProofToKeep {
  /** The task's folder. */
  readonly folder: string;
  readonly seal: Seal;
  readonly state: Pick<LoopState, 'task' | 'proof'>;
  /** The git of the task's snapshots; null if it has none. */
  readonly git: PrivateGit | null;
  /** Absolute path of the folder in which the checks ran. */
  readonly cwd: string;
  /** The check commands; the proof names the files that decide their results. */
  readonly commands: readonly string[];
  readonly setup: Omit<CheckSetup, 'folder'>;
}

/** Writes the proof of a completed task beside its state, or writes it again. Rejects if git or the system fails. */
export async function keepProof(request: ProofToKeep): Promise<void> {
  const { git, cwd, commands, seal, state } = request;
  const { task, proof } = state;
  if (proof === undefined) return;
  const { tree, checks, findings, changedTestFiles, judge } = proof;
  const folder = git === null ? '' : path.relative(git.repository.root, cwd);
  const known =
    git === null || tree === null
      ? NOTHING_KNOWN
      : await factsOfTree(git, tree, { checks: commands, folder });
  const setup = { folder, ...request.setup };
  const ofJudge = judge === undefined ? {} : { judge };
  const facts = { tree, checks, findings, changedTestFiles, setup, ...known, ...ofJudge };
  await writeProof(request.folder, proofStatement(facts), { seal, run: task });
}

type FactsOfTree = Pick<ProofFacts, 'committedTree' | 'commit' | 'deciders'>;

const NOTHING_KNOWN: FactsOfTree = { committedTree: null, commit: null, deciders: [] };

async function factsOfTree(
  git: PrivateGit,
  tree: string,
  place: { readonly checks: readonly string[]; readonly folder: string },
): Promise<FactsOfTree> {
  const { files } = await findDeciders({ git, ...place }, tree);
  const deciders = await deciderDigests(git, tree, files);
  return { ...(await subjectsOf(git, tree)), deciders };
}

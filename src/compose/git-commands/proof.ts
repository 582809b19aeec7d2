import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { CheckResult, RawCheckResult } from '../../core/completion/check-result.ts';
import type { CommandResult } from '../../core/completion/command-result.ts';
import {
  checksOfProof,
  type DeciderDigests,
  differencesFrom,
  judgeAgain,
  type ProofDifference,
} from '../../core/completion/repeated-proof.ts';
import type { ProofFacts } from '../../core/proof/statement.ts';
import { withoutFleet } from '../../core/settings/environment.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { checkoutFolder } from '../../effects/branches/fresh-checkout.ts';
import { claimLanding } from '../../effects/branches/landing-claim.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import { errorCode } from '../../effects/files/write-file.ts';
import { type Git, gitAt } from '../../effects/git/git.ts';
import { GitError } from '../../effects/git/git-error.ts';
import { gitWith } from '../../effects/git/open-repository.ts';
import { openPrivateGit, type PrivateGit } from '../../effects/git/private-git.ts';
import { objectType } from '../../effects/git/questions/objects.ts';
import { resolveCommit, resolveName } from '../../effects/git/questions/refs.ts';
import type { Repository } from '../../effects/git/repository.ts';
import { asTreePath } from '../../effects/git/tree-path.ts';
import { runShellCommand, type ShellOptions } from '../../effects/processes/shell-command.ts';
import { type SignalWatch, watchSignals } from '../../effects/processes/signals.ts';
import type { CheckPlace } from '../../effects/proof/check-place.ts';
import { checkClean } from '../../effects/proof/clean-checkout.ts';
import { deciderDigests } from '../../effects/proof/decider-look.ts';
import { type ReadProof, readProof, readProofFile } from '../../effects/proof/proof-file.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import type { Seal } from '../../effects/trust/seal.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { CommandError, messageOf, UsageError } from '../../errors.ts';
import { runCheck } from '../proof/checks.ts';
import { confinedToCheckout } from '../sandbox/confined-to.ts';
import type { LaterChecks, LaterSandbox } from '../sandbox/run-sandbox.ts';
import { laterSandbox } from '../sandbox/sandbox-of-run.ts';
import { firstRepository } from './task-repository.ts';

/** Reads the proof of a completed task from its folder; null if it has none. Throws a `CommandError`. */
export function proofOfTask(folder: string, state: TaskState, seal: Seal): ReadProof | null {
  return readProof(folder, seal, state);
}

/** Reads a proof that anybody may have written. Throws a `CommandError`, or a `UsageError` if the file is missing. */
export function proofOfFile(file: string): ReadProof {
  try {
    return readProofFile(file);
  } catch (error) {
    if (errorCode(error) === '') throw error;
    throw new UsageError([
      `ralph proof expects the file of a proof beside --repo; ${file} cannot be read: ${messageOf(error)}.`,
    ]);
  }
}

/** A proof, and the folders where its repository may be. */
export interface PlacedProof {
  readonly facts: ProofFacts;
  /** Absolute paths of folders, the best one first. */
  readonly folders: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Returns ralph's own git folder of a task; null if it has none, or if it is a link to elsewhere. */
export function gitFolderOf({ folder, stateDir }: TaskPaths): string | null {
  const own = path.join(folder, 'git');
  return existsSync(own) && !leadsOut(own, stateDir) ? own : null;
}

/** Returns the proven tree, or else the one that git committed in its place. Rejects with a `CommandError`. */
export async function findProvenTree(proof: PlacedProof): Promise<string> {
  const git = gitWith(proof.env);
  return findTree(proof.facts, await repositoryOf(proof, git), git);
}

/** The result of running the checks of a proof again. */
export type Repeated = {
  readonly tree: string;
  /** The folder of the checkout, if it is kept so that a person can look at it; null if it was removed. */
  readonly folder: string | null;
} & (
  | {
      readonly kind: 'ran';
      readonly results: readonly CheckResult[];
      readonly differences: readonly ProofDifference[];
    }
  | { readonly kind: 'setup-failed'; readonly result: CommandResult }
);

export interface ProofToRepeat extends PlacedProof {
  /** A name for the checkout: the id of the task, or of the tree. */
  readonly name: string;
  /** Ralph's own git folder of the task, needed for files with git filters; null for a proof from elsewhere. */
  readonly gitFolder: string | null;
  /** The vault; like `stateDir`, it contains ralph's own files, which are not copied into the checkout. */
  readonly vault: string;
  readonly stateDir: string;
  /** The task that the proof is about, for the rules of its sandbox; null for a proof from elsewhere. */
  readonly task: Pick<LaterChecks, 'state' | 'stored' | 'keyFile'> | null;
  readonly warn: (sentence: string) => void;
  /** Called once if another process (`pid`, if known) must end first: it lands a task or checks a proof. */
  readonly onWait: (pid: number | null) => void;
}

/**
 * Runs the checks of a proof once more, on its tree in a clean checkout. The caller has made sure that a person allows
 * the commands of the proof. Rejects with a `CommandError` if the checks cannot run, and with a `SandboxError` if the
 * task's sandbox is not available.
 */
export async function repeatProof(proof: ProofToRepeat): Promise<Repeated> {
  const { task, vault, stateDir, env, warn } = proof;
  const stops = watchSignals();
  const runId = randomUUID();
  const checks = task === null ? null : { ...task, vault, stateDir, env, runId, warn };
  const sandbox = await laterSandbox(checks);
  try {
    await sandbox.require(proof.folders[0] ?? vault);
    return await repeatWatched({ ...proof, sandbox, runId }, stops);
  } finally {
    await sandbox.close();
    stops.close();
  }
}

interface Repetition extends ProofToRepeat {
  readonly sandbox: LaterSandbox;
  readonly runId: string;
}

async function repeatWatched(proof: Repetition, stops: SignalWatch): Promise<Repeated> {
  const { signal, hurry } = stops;
  const anywhere = gitWith(proof.env, undefined, hurry);
  const repository = await repositoryOf(proof, anywhere);
  const tree = await findTree(proof.facts, repository, anywhere);
  const scratch = path.join(repository.commonDir, 'ralph', 'proof-git');
  const folder = proof.gitFolder ?? scratch;
  const stopped = new CommandError('It was stopped before the checks had ended.');
  let ended: (() => void) | null = null;
  try {
    ended = await claimLanding(repository, signal, proof.onWait);
    if (ended === null) throw stopped;
    // A process that was killed may have left this folder.
    rmSync(scratch, { recursive: true, force: true });
    const limits = { env: proof.env, timeoutMs: GIT_TIMEOUT_MS, signal: hurry };
    const git = openPrivateGit({ folder, repository, ...limits });
    const repeated = await runIn(git, tree, proof, stops);
    if (signal.aborted) throw stopped;
    return repeated;
  } catch (error) {
    if (!(error instanceof GitError) && errorCode(error) === '') throw error;
    throw new CommandError(`The checks could not run again: ${messageOf(error)}.`);
  } finally {
    if (ended !== null) {
      rmSync(scratch, { recursive: true, force: true });
      ended();
    }
  }
}

const GIT_TIMEOUT_MS = 10 * 60_000;

async function runIn(
  git: PrivateGit,
  tree: string,
  proof: Repetition,
  stops: SignalWatch,
): Promise<Repeated> {
  const { facts, name, vault, stateDir, env, runId } = proof;
  const { folder: below, setup, copy, timeout_ms: timeoutMs } = facts.setup;
  const { repository } = git;
  const optionsIn = async (place: CheckPlace): Promise<ShellOptions> => {
    const sandbox = await proof.sandbox.open(place.cwd);
    return {
      cwd: place.cwd,
      // `RALPH_RUN_ID` makes it possible to find processes that a check leaves running.
      env: { ...withoutFleet(env), TMPDIR: place.temporary, RALPH_RUN_ID: runId },
      timeoutMs,
      stops,
      ...confinedToCheckout(sandbox, place),
    };
  };
  const deciders = await decidersIn(git, tree, facts);
  const check = async (place: CheckPlace) => {
    const raw: RawCheckResult[] = [];
    for (const each of checksOfProof(facts)) {
      raw.push({ ...(await runCheck(each, await optionsIn(place))), where: 'clean' });
    }
    const results = judgeAgain(facts, raw);
    return { results, differences: differencesFrom(facts, results, deciders) };
  };
  const end = await checkClean({
    ...{ git, tree, below, setup, check },
    folder: await checkoutFolder(git, `${name}.again`),
    head: await headFor(facts, tree, gitAt(git.anywhere, repository.root)),
    copy: { from: path.join(repository.root, below), globs: copy },
    isOwn: ownFiles(vault, stateDir),
    run: async (command, place) => runShellCommand(command, '', await optionsIn(place)),
    hasPassed: ({ differences }) => differences.length === 0,
  });
  if (end.kind === 'setup-failed') {
    return { kind: 'setup-failed', tree, result: end.result, folder: end.folder };
  }
  return { kind: 'ran', tree, ...end.answer, folder: end.folder };
}

/**
 * Returns digests of the files that decide the results of the checks. If `tree` is not the tree that was checked but
 * the one that git committed, git may have changed bytes: then returns the proof's own digests, so that none differs.
 */
async function decidersIn(
  git: PrivateGit,
  tree: string,
  facts: ProofFacts,
): Promise<DeciderDigests> {
  if (tree !== facts.tree) return facts.deciders;
  const files = facts.deciders.map(({ name }) => asTreePath(name));
  return deciderDigests(git, tree, files);
}

/** Returns the proof's commit if that has this tree; otherwise the commit of HEAD, or null if HEAD has none. */
async function headFor({ commit }: ProofFacts, tree: string, git: Git): Promise<string | null> {
  const isOfTree = commit !== null && (await resolveName(git, `${commit}^{tree}`)) === tree;
  return isOfTree ? commit : resolveCommit(git, 'HEAD');
}

async function repositoryOf(
  { folders }: Pick<PlacedProof, 'folders'>,
  git: Git,
): Promise<Repository> {
  const opened = await firstRepository(folders, git);
  if (opened.kind === 'repository') return opened.repository;
  throw new CommandError(
    `A proof is about a tree in a git repository, and none can be used: ${opened.why}.`,
  );
}

async function findTree(
  { tree, committedTree }: ProofFacts,
  { root }: Repository,
  git: Git,
): Promise<string> {
  if (tree === null) {
    throw new CommandError('This proof names no tree: the task did not work in a git repository.');
  }
  for (const id of [tree, committedTree]) {
    if (id !== null && (await objectType(gitAt(git, root), id)) === 'tree') return id;
  }
  throw new CommandError(
    `${root} has not got the tree ${tree} that was judged; fetch the branch that contains it, or name another repository.`,
  );
}

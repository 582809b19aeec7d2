import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  findProvenTree,
  gitFolderOf,
  proofOfFile,
  proofOfTask,
  repeatProof,
} from '../../../compose/git-commands/proof.ts';
import { foldersOfTask } from '../../../compose/git-commands/task-repository.ts';
import { checksOfProof } from '../../../core/completion/repeated-proof.ts';
import { verdictLines } from '../../../core/judge/verdict.ts';
import { factsOfStatement, type ProofFacts } from '../../../core/proof/statement.ts';
import { maskSecrets } from '../../../core/secrets/secrets.ts';
import { withoutControls } from '../../../core/text/untrusted-text.ts';
import { requireStoredRun } from '../../../effects/plan/stored-settings.ts';
import { sealAt } from '../../../effects/trust/seal.ts';
import { CommandError, UsageError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { proofText } from '../../../report/ending-lines.ts';
import {
  commandsToRun,
  heldNever,
  holdsNoLonger,
  proofScreen,
  setupFailed,
  stillHolds,
} from '../../../report/screens/proof.ts';
import { type FoundTask, findTask } from '../../tasks/find-task.ts';
import {
  type FolderOptions,
  foldersOf,
  startFolder,
  type TaskFolders,
} from '../../tasks/named-folders.ts';
import { shownTask } from '../../tasks/named-task.ts';
import { unknownTask } from '../../tasks/unknown-task.ts';
import { personAt } from '../../terminal/ask-person.ts';
import { say, standardOutlet } from '../../terminal/outlet.ts';

export interface ProofOptions extends FolderOptions {
  readonly again?: boolean;
  /** The repository to which the proof in a file belongs. */
  readonly repo?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
}

interface NamedProof extends Pick<ReturnType<typeof proofOfFile>, 'statement' | 'json' | 'isOwn'> {
  /** What sentences call the proof: `the proof of fix-login`, or `this proof`. */
  readonly what: string;
  /** The first part of the name of the folder in which the checks are run again. */
  readonly name: string;
  readonly folders: readonly string[];
  readonly gitFolder: string | null;
  /** Null for a proof in a file, whose task may be unknown here. */
  readonly task: FoundTask | null;
}

/** `ralph proof ID` or `ralph proof FILE --repo DIR`: shows what a task has proven, or checks it again. */
export async function proof(idOrFile: string | undefined, options: ProofOptions): Promise<number> {
  const { again = false, json = false } = options;
  if (again && json) throw new UsageError(['ralph proof expects --again or --json; found both.']);
  const place = foldersOf(options);
  const named =
    options.repo === undefined
      ? proofNamed(shownTask(idOrFile, place), place)
      : proofInFile(path.resolve(startFolder(), requireFile(idOrFile)), options.repo);
  if (typeof named === 'string') {
    await standardOutlet().write(`${withoutControls(named)}\n`);
    return again ? EXIT_FAILED : 0;
  }
  const facts = factsOfStatement(named.statement);
  if (again) return repeat(named, facts, place, options.yes ?? false);
  const { judge } = facts;
  const judged = judge === undefined ? [] : verdictLines(judge);
  const screen = proofScreen(facts, named.statement.predicate.result, judged);
  await standardOutlet().write(json ? `${named.json}\n` : maskSecrets(screen));
  if (options.repo === undefined) {
    if (!named.isOwn) say(`${named.what} was not written by you here, or was changed since`);
    return 0;
  }
  const { folders } = named;
  const tree = await findProvenTree({ facts, folders, env: process.env });
  say(`${folders[0]} has this tree (${tree.slice(0, 7)}); --again runs the checks on it`);
  return 0;
}

function requireFile(file: string | undefined): string {
  if (file !== undefined) return file;
  throw new UsageError(['ralph proof --repo expects the file of a proof; found none.']);
}

/** Returns the proof of a task, or a sentence that says why there is none. */
function proofNamed(taskId: string, place: TaskFolders): NamedProof | string {
  const found = findTask(taskId, place);
  if (found === null) {
    if (existsSync(path.resolve(startFolder(), taskId))) {
      throw new UsageError([
        `ralph proof expects the id of a task, or the file of a proof with --repo DIR; found ${taskId} without --repo.`,
      ]);
    }
    throw unknownTask(taskId, place.stateDir);
  }
  const { state, paths, isOwn } = found;
  const read = found.standing === 'completed' ? ofTask(found, place) : null;
  if (read === null) return whyNone(found);
  return {
    ...read,
    isOwn: isOwn && read.isOwn,
    what: `the proof of ${taskId}`,
    name: taskId,
    folders: foldersOfTask(state, paths.folder),
    gitFolder: isOwn ? gitFolderOf(paths) : null,
    task: found,
  };
}

function ofTask({ state, paths }: FoundTask, place: TaskFolders): ReturnType<typeof proofOfTask> {
  return proofOfTask(paths.folder, state, sealAt(place));
}

function whyNone({ state, standing }: FoundTask): string {
  const { task_id: taskId, evidence } = state;
  if (standing !== 'completed') return `${taskId} has no proof: it is ${standing}`;
  const why = evidence?.proof === undefined ? 'it ran no check' : proofText(evidence.proof);
  return `${taskId} has no proof: ${why}`;
}

function proofInFile(file: string, repo: string): NamedProof {
  const read = proofOfFile(file);
  const tree = factsOfStatement(read.statement).tree ?? '';
  return {
    ...read,
    what: 'this proof',
    name: `proof-${tree.slice(0, 12)}`,
    folders: [path.resolve(startFolder(), repo)],
    gitFolder: null,
    task: null,
  };
}

async function repeat(
  named: NamedProof,
  facts: ProofFacts,
  { vault, stateDir, keyFile }: TaskFolders,
  isAgreed: boolean,
): Promise<number> {
  const { what, name, folders, gitFolder, task } = named;
  const commands = checksOfProof(facts).map(({ command }) => command);
  if (commands.length === 0) throw new CommandError(`${what} names no check that could run again.`);
  const placed = { facts, folders, env: process.env };
  // The tree is looked for before the question, so that nobody is asked about checks that cannot run.
  await findProvenTree(placed);
  if (!named.isOwn && !(await mayRun(facts, commands, isAgreed))) {
    say('nothing was run');
    return EXIT_FAILED;
  }
  const repeated = await repeatProof({
    ...{ ...placed, name, gitFolder, vault, stateDir, warn: say },
    task:
      task === null
        ? null
        : { state: task.state, stored: requireStoredRun(task.paths.folder, task.state), keyFile },
    onWait: (pid) =>
      say(`waiting for other checks in this repository${pid === null ? '' : ` (pid ${pid})`}`),
  });
  const about = { what, tree: repeated.tree, folder: repeated.folder };
  if (repeated.kind === 'ran' && repeated.differences.length === 0) {
    const [finding] = facts.findings;
    const text =
      finding === undefined
        ? stillHolds(repeated.results, about)
        : heldNever(repeated.results, { ...about, finding: finding.detail });
    say(maskSecrets(text));
    return finding === undefined ? 0 : EXIT_FAILED;
  }
  const text =
    repeated.kind === 'ran'
      ? holdsNoLonger(repeated.differences, about)
      : setupFailed(repeated.result, about);
  say(maskSecrets(text));
  return EXIT_FAILED;
}

/** Throws a `UsageError` if nobody can be asked, a `CommandError` if invisible characters could hide what would run. */
async function mayRun(
  facts: ProofFacts,
  commands: readonly string[],
  isAgreed: boolean,
): Promise<boolean> {
  const { setup, copy } = facts.setup;
  const all = [...commands, ...copy, ...(setup === null ? [] : [setup])];
  if (all.some((text) => withoutControls(text) !== text)) {
    throw new CommandError(
      'The commands of this proof contain characters that cannot be seen, so nothing was run.',
    );
  }
  await standardOutlet().write(commandsToRun(facts, commands));
  if (isAgreed) return true;
  const ask = personAt(process.env);
  if (ask !== null) return ask('ralph: Run this? [y/N] ');
  throw new UsageError([
    'ralph proof --again asks before it runs commands that were not written by you here, and here it can ask nobody; nothing was run. --yes answers the question.',
  ]);
}

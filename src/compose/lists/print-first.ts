import path from 'node:path';
import type { TaskList } from '../../core/list/list-item.ts';
import { FROM, isHostOfRemotes, repositoryVariables } from '../../core/list/list-sources.ts';
import { sha256Of } from '../../effects/files/file-hash.ts';
import { findGitAbove } from '../../effects/files/find-git-above.ts';
import { beadsFiles, changedBeadsFile } from '../../effects/lists/beads-files.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { watchSignals } from '../../effects/processes/signals.ts';
import { UsageError } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { type PrintedList, printList } from './list-source.ts';

/** A list as it was printed before the run began. Its `run` always uses the repository of that time. */
export interface PrintedFirst extends PrintedList {
  readonly first: TaskList;
  /** The ids of items that the run may start later, in addition to those of `first`. */
  readonly known: ReadonlySet<string>;
  /** What the ids belong to, for example the repository of the issues. */
  readonly origin: string;
}

/** Fetches a list before the first item. `known` is a command that prints further items of the list, or null. */
export async function printFirst(
  list: PrintedList,
  known: string | null,
  plan: Pick<RunPlan, 'cwd' | 'vault' | 'env'>,
): Promise<PrintedFirst> {
  // A signal is caught and passed on: if it ended only ralph, the command would go on running.
  const stops = watchSignals();
  try {
    const first = await printList(list, stops);
    const all =
      known === null
        ? first
        : await printList({ ...list, commands: { ...list.commands, list: known } }, stops);
    await requireHostOfRemotes(list, first, plan, stops);
    const ofList = repositoryVariables(first.repository);
    const steering = (): ReadonlyMap<string, string> =>
      list.name === 'beads' ? beadsFiles(plan.cwd) : new Map();
    const before = steering();
    return {
      ...list,
      first,
      known: new Set(all.items.map(({ id }) => id)),
      origin: originOf(list, first, plan),
      async run(command, stop, given = {}) {
        // An agent can write the hooks that `bd` runs outside the sandbox, so after a change of them `bd` is not run.
        const changed = changedBeadsFile(before, steering());
        if (changed === null) {
          const variables = { ...given.variables, ...ofList };
          return list.run(command, stop, { ...given, variables });
        }
        const why = `${changed} has changed since the run began, and bd does what it says; look at it`;
        return { kind: 'failed', why, isBroken: true };
      },
    };
  } finally {
    stops.close();
  }
}

function originOf(
  { name, commands, sections }: PrintedList,
  { repository }: TaskList,
  { cwd, vault }: Pick<RunPlan, 'cwd' | 'vault'>,
): string {
  if (name === 'github') return repository ?? '';
  if (name !== FROM) return path.relative(vault, findGitAbove(cwd) ?? cwd) || '.';
  // Only a hash is kept, because the command may contain a token.
  return sha256Of(JSON.stringify([commands.list, ...sections]));
}

async function requireHostOfRemotes(
  { run, shown }: PrintedList,
  { repository }: TaskList,
  { env }: Pick<RunPlan, 'env'>,
  stops: StopRequests,
): Promise<void> {
  // If a person names the host or the repository, the remotes do not matter.
  if (repository === undefined || env.GH_HOST !== undefined || env.GH_REPO !== undefined) return;
  const remotes = await run('git remote -v', stops);
  const [host = ''] = repository.split('/');
  if (remotes.kind !== 'passed' || isHostOfRemotes(host, remotes.output)) return;
  throw new UsageError([
    `ralph work ${shown} expects issues of the host of the work folder's remotes; gh answers for ${repository}. Set GH_HOST to the host that is meant.`,
  ]);
}

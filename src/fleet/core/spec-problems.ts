import { writeDuration } from '../../core/settings/duration.ts';
import { SETTINGS, type Settings, settingsWith } from '../../core/settings/settings.ts';
import { isPayment } from '../../core/settings/task-type.ts';
import { LONGEST_LEG_MS } from '../../core/supervisor/lease.ts';
import { isFleetSpec } from './fleet-spec.ts';
import type { FleetSpec } from './fleet-task.ts';
import { baseProblem, fleetTaskIdProblem, isBranchName } from './ref-names.ts';
import { repositoryProblem } from './repository-url.ts';

/** Returns how a problem names a flag: `--repo`, or `repo` in a line of a batch. */
export type Naming = (flag: string) => string;

const AS_FLAG: Naming = (flag) => flag;

/** Returns what is wrong with a task for every worker, whatever its policy, one sentence each. */
export function placeProblems(
  spec: Omit<FleetSpec, 'settings'>,
  named: Naming = AS_FLAG,
): readonly string[] {
  const problems: string[] = [];
  const repository = repositoryProblem(spec.repo);
  if (repository !== null) problems.push(`${named('--repo')} ${repository}.`);
  const id = fleetTaskIdProblem(spec.task_id, named('--task-id'));
  if (id !== null) problems.push(id);
  const base = spec.base === null ? null : baseProblem(spec.base, named('--base'));
  if (base !== null) problems.push(base);
  // The default branch contains the id, so a bad id is reported only once.
  if (id === null && !isBranchName(spec.branch)) {
    problems.push(
      `${named('--branch')} expects a name that git takes for a branch, such as fix/login; found '${spec.branch}'.`,
    );
  }
  if (spec.subdir !== null && (spec.subdir === '' || leavesTree(spec.subdir))) {
    problems.push(
      `${named('--subdir')} expects a folder in the repository, such as packages/api; found '${spec.subdir}'.`,
    );
  }
  if (!Number.isInteger(spec.priority) || Math.abs(spec.priority) > 100) {
    problems.push(
      `${named('--priority')} expects a whole number from -100 to 100; found ${spec.priority}.`,
    );
  }
  if (!isAccountName(spec.account)) problems.push(accountProblem(spec.account, named('--account')));
  if (!isQueueName(spec.queue)) problems.push(queueProblem(spec.queue, named('--queue')));
  if (isPayment(spec.task_type)) {
    problems.push(
      `The task type '${spec.task_type}' is refused: ralph never automates payments; leave it to a person.`,
    );
  }
  return problems;
}

/** Whether a text is a valid name for a queue. */
export function isQueueName(name: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(name);
}

/** Returns the sentence that refuses an invalid name for a queue. */
export function queueProblem(name: string, where = '--queue'): string {
  return `${where} expects 1 to 40 characters of a-z 0-9 -; found '${name}'.`;
}

/** Whether a text is a valid name for an account. */
export function isAccountName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}$/.test(name);
}

/** Returns the sentence that refuses an invalid name for an account. */
export function accountProblem(name: string, where = '--account'): string {
  return `${where} expects 1 to 64 characters of A-Z a-z 0-9 . _ @ + -, beginning with a letter, a digit or _; found '${name}'.`;
}

const PATHS = settingsWith({ fleet: 'path' });

/**
 * Returns which settings no worker's run of the task (leg) could follow, one sentence each: paths that lead out of its
 * clone, and an iteration longer than a leg, which would be repeated for ever.
 */
export function legProblems(
  settings: Pick<Settings, (typeof PATHS)[number] | 'iterationTimeout'>,
  named: Naming = AS_FLAG,
): readonly string[] {
  const { iterationTimeout } = settings;
  const paths = PATHS.flatMap((name) =>
    [settings[name] ?? []]
      .flat()
      .filter(leavesTree)
      .map(
        (path) =>
          `${named(SETTINGS[name].flag)} expects a path in the repository, since each leg has another clone; found '${path}'.`,
      ),
  );
  if (iterationTimeout <= LONGEST_LEG_MS) return paths;
  const most = writeDuration(LONGEST_LEG_MS);
  return [
    ...paths,
    `${named(SETTINGS.iterationTimeout.flag)} expects at most ${most} in a fleet, since no worker keeps a task for longer; found ${writeDuration(iterationTimeout)}.`,
  ];
}

function leavesTree(path: string): boolean {
  // A glob may contain further paths in braces and brackets.
  return /(?:^!?|[{,(|])[/~]|(?:^!?|[/{,(|])\.\.(?:[/},)|]|$)/.test(path);
}

/** Returns the key of a text that PostgreSQL cannot store; null if there is no such text. */
export function unstorableText(value: unknown, key = ''): string | null {
  // This finds NUL, and half of a surrogate pair.
  if (typeof value === 'string') return /\0|\p{Cs}/u.test(value) ? key : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, each] of Object.entries(value)) {
    const found = unstorableText(each, Array.isArray(value) ? key : name);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Whether `ralph submit` may have written a spec. A task with any other spec is only counted and named: its spec is not
 * shown, and not used to find a file or an origin.
 */
export function isReadableSpec(spec: FleetSpec): boolean {
  return isFleetSpec(spec) && placeProblems(spec).length === 0;
}

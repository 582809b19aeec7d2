import { isTaskId, TASK_ID_RULE } from '../../core/task/task-id.ts';

/** Matches what git refuses in the name of a ref, by the rules of `git check-ref-format`. */
const REFUSED = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^-|(?:^|\/)\.|\.lock(?:\/|$)/u;

/** Whether git takes this as the name of a branch. */
export function isBranchName(name: string): boolean {
  return name !== '' && name !== '@' && name !== 'HEAD' && !REFUSED.test(name);
}

const REF_RULE = 'in a fleet also a valid name in git: no .., not ending in a dot or in .lock';

/** Returns what is wrong with the id of a task in a fleet, as a sentence; null if nothing is. */
export function fleetTaskIdProblem(taskId: string, where = '--task-id'): string | null {
  // The id becomes a part of the names of branches and refs.
  if (isTaskId(taskId) && isBranchName(taskId)) return null;
  return `${where} expects ${TASK_ID_RULE}; ${REF_RULE}; found '${taskId}'.`;
}

/**
 * Returns what is wrong with the ref at which a task begins, as a sentence; null if nothing is. Any expression for one
 * commit is allowed, such as a tag, `main~2` or the beginning of a hash.
 */
export function baseProblem(base: string, where = '--base'): string | null {
  if (base !== '' && !/^-|[\p{Cc} :?*[\\]|\.\./u.test(base)) return null;
  return `${where} expects one commit of the repository, such as main, v1.2 or a hash; found '${base}'.`;
}

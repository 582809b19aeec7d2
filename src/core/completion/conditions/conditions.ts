import { DEFAULT_PROMISE } from '../../settings/rows/completion.ts';
import type { SettingName } from '../../settings/settings.ts';
import type { Policy } from '../../task/policy.ts';
import type { Claim } from '../claim.ts';
import { judgePromise, type PromiseVerdict, type PromptText, statesPhrase } from '../promise.ts';
import type { Condition, ConditionPolicy, IterationView } from './condition.ts';
import { FILE_MOVED } from './file-moved.ts';
import { PLAN_FILE } from './plan-file.ts';
import { PROMISE } from './promise.ts';
import { SIGNAL } from './signal.ts';
import { UNTIL } from './until.ts';
import { WATCH_GLOB } from './watch-glob.ts';

/** All completion conditions, in the order in which their evidence is preferred. */
export const CONDITIONS: readonly Condition[] = [
  PROMISE,
  FILE_MOVED,
  WATCH_GLOB,
  UNTIL,
  PLAN_FILE,
  SIGNAL,
];

/** Returns the promise (words for "done"): the default if no condition is set, null if only other ones are set. */
export function promiseInForce(policy: ConditionPolicy): string | null {
  const hasCondition = CONDITIONS.some(({ isSet }) => isSet(policy));
  return hasCondition ? policy.promise : DEFAULT_PROMISE;
}

/** Returns the names of the settings of all conditions. The command `rescue` ignores them: it sets its own promise. */
export function conditionSettings(): readonly SettingName[] {
  return CONDITIONS.flatMap(({ settings }) => settings);
}

/** Returns the shell commands of a policy's conditions, by the kind of the condition. */
export function commandsOf(policy: ConditionPolicy): Readonly<Record<string, string>> {
  const commands = CONDITIONS.map(({ kind, command }) => [kind, command?.(policy) ?? null]);
  return Object.fromEntries(commands.filter(([, command]) => command !== null));
}

/** Returns the commands on whose success the end of a task depends: those of its checks and of its conditions. */
export function commandsToCheck(policy: Policy): readonly string[] {
  return [...policy.verify.map(({ command }) => command), ...Object.values(commandsOf(policy))];
}

/** Whether checking the conditions of a policy runs a command or searches the work tree. */
export function isSlowToCheck(policy: ConditionPolicy): boolean {
  return CONDITIONS.some(
    ({ isSlow, isSet, command }) => isSet(policy) && (isSlow === true || command !== undefined),
  );
}

/** Returns all claims of an iteration. Claims by files come before claims by words, which are weaker evidence. */
export function findClaims(view: IterationView): readonly Claim[] {
  const claims: Claim[] = [];
  for (const condition of CONDITIONS) {
    const detail = condition.check(view);
    if (detail !== null) {
      claims.push({ evidence: { kind: condition.kind, detail }, byWords: condition.byWords });
    }
  }
  return claims.sort((a, b) => Number(a.byWords) - Number(b.byWords));
}

/** Describes what has to hold for the task to be complete. Joins conditions by "or". */
export function describeCompletion(policy: Policy): string {
  const asked = CONDITIONS.filter(({ isSet }) => isSet(policy));
  return asked.map(({ describe }) => describe(policy)).join(', or ');
}

/**
 * Tells a person when the task is done, like `describeCompletion` but with the plain words of the promise and with
 * the checks. It is not for agents: an agent that repeated this form could seem to state the promise.
 */
export function doneWhen(policy: Policy): string {
  const { promise, verify } = policy;
  const asked = CONDITIONS.filter(({ isSet }) => isSet(policy)).map((condition) =>
    condition === PROMISE
      ? `the agent states ${promise}`
      : condition.describe(policy).replace(/^you state /, 'the agent states '),
  );
  const checks = verify.map(({ command }) => command);
  if (checks.length === 0) return asked.join(', or ');
  const pass = `${checks.join(' and ')} ${checks.length === 1 ? 'passes' : 'pass'}`;
  return `${asked.join(', or ')}${asked.length === 1 ? ' and' : '; and then'} ${pass}`;
}

/** Judges the promise in the agent's final message. Echoes of what ralph itself put into the prompt do not count. */
export function judgeMessage(
  message: string | null,
  policy: Policy,
  ownTexts: readonly PromptText[],
): PromiseVerdict {
  if (message === null || policy.promise === null) return { kind: 'absent' };
  return judgePromise(message, policy.promise, policy.match, ownTexts);
}

/** Whether the final message states one of the phrases. */
export function statesOneOf(
  phrases: readonly string[],
  message: string | null,
  ownTexts: readonly PromptText[],
): boolean {
  return message !== null && phrases.some((phrase) => statesPhrase(message, phrase, ownTexts));
}

import { say } from '../../cli/terminal/outlet.ts';
import { parseDuration } from '../../core/settings/duration.ts';
import { UsageError } from '../../errors.ts';
import { accountProblem, isAccountName } from '../core/spec-problems.ts';
import { accountText } from '../report/fleet-words.ts';
import type { OpenFleet } from './on-fleet.ts';

/** The flags of `ralph fleet account`, as they were written. */
export interface AccountFlags {
  /** A duration; true: until somebody resumes the account. */
  readonly pause?: string | true;
  readonly resume?: boolean;
  readonly slots?: string;
}

/** `ralph fleet account NAME`: pauses, resumes or limits an account on all machines. Throws a `UsageError`. */
export async function accountFleet(
  { queue }: OpenFleet,
  name: string,
  flags: AccountFlags,
): Promise<number> {
  const change = changeOf(name, flags);
  await queue.setAccount(name, change);
  const after = (await queue.accounts()).find(({ account }) => account === name);
  if (after !== undefined) say(`${queue.name}: ${accountText(after, await queue.readClock())}`);
  return 0;
}

type AccountChange = Parameters<OpenFleet['queue']['setAccount']>[1];

function changeOf(name: string, { pause, resume, slots }: AccountFlags): AccountChange {
  const problems: string[] = [];
  if (!isAccountName(name)) problems.push(accountProblem(name, 'ralph fleet account'));
  if (pause === undefined && resume === undefined && slots === undefined) {
    problems.push(
      `ralph fleet account ${name} needs one of --pause TIME, --resume and --slots N; ralph fleet status shows it.`,
    );
  }
  if (pause !== undefined && resume !== undefined) {
    problems.push(
      '--pause and --resume exclude each other: an account is paused, or its pause ends.',
    );
  }
  const pauseMs = typeof pause === 'string' ? parseDuration(pause) : 1;
  if (pauseMs === null || pauseMs === 0) {
    problems.push(
      `--pause expects a duration such as 2h or 30m, or nothing to pause the account until --resume; found '${pause}'.`,
    );
  }
  if (slots !== undefined && !/^\d{1,4}$/.test(slots)) {
    problems.push(`--slots expects a number from 0 (unbounded) to 9999; found '${slots}'.`);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return {
    ...(pause === undefined ? {} : { pause: pause === true ? 'until-released' : (pauseMs ?? 0) }),
    ...(resume === undefined ? {} : { resume: true }),
    ...(slots === undefined ? {} : { slots: Number(slots) }),
  };
}

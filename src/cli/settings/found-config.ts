import {
  type ConfigText,
  configPlaces,
  noteTrust,
  trustedAmong,
  trustStanding,
} from '../../compose/config.ts';
import { powersOf } from '../../core/power.ts';
import { UsageError } from '../../errors.ts';
import {
  trustQuestion,
  type UntrustedConfig,
  untrustedNotice,
  untrustedRefusal,
} from '../../report/trust.ts';
import type { ConfigSettings } from './config-file.ts';

/** A configuration that needs trust, and how it stands. */
export interface PowerfulConfig extends UntrustedConfig {
  /** Null where it is gone, or not used. */
  readonly config: ConfigText | null;
  readonly isTrusted: boolean;
}

/** Puts a question to a person; whether the answer was a yes. */
export type Ask = (question: string) => boolean;

/** What a search for a configuration came to. */
interface Found {
  readonly config: ConfigText | null;
  readonly read: Pick<ConfigSettings, 'layer' | 'vault'>;
  readonly startDir: string;
}

/**
 * What was found where a configuration was looked for. Null where no trust is needed: nothing in it needs
 * any, and none was trusted there, whose gates would be left out without a word.
 */
export function powerfulConfig(
  { config, read, startDir }: Found,
  env: NodeJS.ProcessEnv,
): PowerfulConfig | null {
  const powers = config === null ? [] : powersOf(read.layer, read.vault);
  const standing = config === null ? null : trustStanding(config, env);
  const isTrusted = standing?.kind === 'trusted';
  const unsafe = standing?.kind === 'unsafe' ? standing.why : null;
  const trusted = isTrusted ? null : trustedAmong(configPlaces(startDir, env), env);
  const file = config?.file ?? trusted;
  if (file === null || (powers.length === 0 && trusted === null)) return null;
  return { file, config, powers, isTrusted, unsafe, trusted, isUsable: config !== null };
}

/** Tells at a start what a trusted configuration has in force; no flag takes that back. */
export function sayPowers(powers: readonly string[]): void {
  for (const sentence of powers) process.stderr.write(`ralph: ${sentence}\n`);
}

/** Why a run does not use it. */
export function refusalOf(powerful: PowerfulConfig): string {
  return untrustedRefusal(powerful);
}

/** For a plan that shows it all the same. */
export function noticeOf(powerful: PowerfulConfig): string {
  return untrustedNotice(powerful);
}

/**
 * Has a person decide about a configuration that nobody has trusted, and notes a yes. Rejects with a
 * `UsageError` where `ask` is null or the answer is no.
 */
export async function wantTrust(
  powerful: PowerfulConfig,
  ask: Ask | null,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { config, unsafe } = powerful;
  // Where others could write the notes, a yes would not be believed either.
  const isWanted =
    ask !== null && unsafe === null && config !== null && ask(trustQuestion(powerful));
  if (!isWanted) throw new UsageError([refusalOf(powerful)]);
  await noteTrust(config, env);
}

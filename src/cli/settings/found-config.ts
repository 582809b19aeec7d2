import { type ConfigText, noteTrust, trustStanding } from '../../compose/config.ts';
import { type Power, powersOf } from '../../core/power.ts';
import type { Layer } from '../../core/setting-source.ts';
import { UsageError } from '../../errors.ts';
import {
  trustQuestion,
  untrustedNotice,
  untrustedRefusal,
  untrustedWords,
} from '../../report/trust.ts';

/** A found configuration with settings that need trust, and how it stands. */
export interface PowerfulConfig {
  readonly config: ConfigText;
  readonly powers: readonly Power[];
  readonly isTrusted: boolean;
  /** Why what was noted of trust is not believed; null where it is. */
  readonly unsafe: string | null;
}

/** Puts a question to a person; whether the answer was a yes. */
export type Ask = (question: string) => boolean;

/** Null where no trust is needed: there is no file, it was named, or it sets nothing of that kind. */
export function powerfulConfig(
  config: ConfigText | null,
  layer: Layer,
  env: NodeJS.ProcessEnv,
): PowerfulConfig | null {
  if (config === null || !config.wasFound) return null;
  const powers = powersOf(layer);
  if (powers.length === 0) return null;
  const standing = trustStanding(config, env);
  return {
    config,
    powers,
    isTrusted: standing.kind === 'trusted',
    unsafe: standing.kind === 'unsafe' ? standing.why : null,
  };
}

/** Tells at a start what a trusted configuration has in force; no flag takes that back. */
export function sayPowers(powers: readonly string[]): void {
  for (const sentence of powers) process.stderr.write(`ralph: ${sentence}\n`);
}

/** Why a run does not use it. */
export function refusalOf(powerful: PowerfulConfig): string {
  return untrustedRefusal(wordsOf(powerful));
}

/** For a plan that shows it all the same. */
export function noticeOf(powerful: PowerfulConfig): string {
  return untrustedNotice(wordsOf(powerful));
}

function wordsOf({ config, powers, unsafe }: PowerfulConfig): string {
  return untrustedWords(config.file, powers, unsafe);
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
  const { config, powers, unsafe } = powerful;
  // Where others could write the notes, a yes would not be believed either.
  const isWanted = ask !== null && unsafe === null && ask(trustQuestion(config.file, powers));
  if (!isWanted) throw new UsageError([refusalOf(powerful)]);
  await noteTrust(config, env);
}

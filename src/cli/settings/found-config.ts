import { settingsNeedingTrust } from '../../core/settings/needs-trust.ts';
import { type ConfigText, configPlaces } from '../../effects/plan/config-search.ts';
import { noteTrust, trustedAmong, trustStanding } from '../../effects/plan/trust-store.ts';
import { UsageError } from '../../errors.ts';
import {
  trustQuestion,
  type UntrustedConfig,
  untrustedRefusal,
} from '../../report/screens/trust.ts';
import type { ConfigSettings } from './config-file.ts';

/** A configuration file that a person has to trust. `isTrusted` says whether a person has done so. */
export interface ConfigNeedingTrust extends UntrustedConfig {
  /** The file and its text, or null if the file is missing or unusable. */
  readonly config: ConfigText | null;
  readonly isTrusted: boolean;
}

/** Asks a person a question. Returns whether the answer was yes. */
export type Ask = (question: string) => boolean;

interface Found {
  readonly config: ConfigText | null;
  readonly read: Pick<ConfigSettings, 'layer' | 'vault'>;
  readonly startDir: string;
}

/**
 * Returns the configuration that was found if a person has to trust it, else null. It also needs trust if it replaces a
 * trusted configuration, whose checks must not disappear silently.
 */
export function configNeedingTrust(
  { config, read, startDir }: Found,
  env: NodeJS.ProcessEnv,
): ConfigNeedingTrust | null {
  const powers = config === null ? [] : settingsNeedingTrust(read.layer, read.vault);
  const standing = config === null ? null : trustStanding(config, env);
  const isTrusted = standing?.kind === 'trusted';
  const unsafe = standing?.kind === 'unsafe' ? standing.why : null;
  const trusted = isTrusted ? null : trustedAmong(configPlaces(startDir, env), env);
  const file = config?.file ?? trusted;
  if (file === null || (powers.length === 0 && trusted === null)) return null;
  return { file, config, powers, isTrusted, unsafe, trusted, isUsable: config !== null };
}

/** Prints the sentences about what a trusted configuration sets, even with `--quiet`. */
export function sayPowers(powers: readonly string[]): void {
  for (const sentence of powers) process.stderr.write(`ralph: ${sentence}\n`);
}

/** Asks a person to trust a configuration, and records a yes. Otherwise rejects with `problems` and the refusal. */
export async function wantTrust(
  powerful: ConfigNeedingTrust,
  ask: Ask | null,
  env: NodeJS.ProcessEnv,
  problems: readonly string[],
): Promise<void> {
  const { config, unsafe } = powerful;
  // If other users could write where trust is recorded, a yes would be ignored, so there is no point in asking.
  const isWanted =
    ask !== null && unsafe === null && config !== null && ask(trustQuestion(powerful));
  if (!isWanted) throw new UsageError([...problems, untrustedRefusal(powerful)]);
  await noteTrust(config, env);
}

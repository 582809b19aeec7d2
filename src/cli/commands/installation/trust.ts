import path from 'node:path';
import {
  type SettingNeedingTrust,
  settingsNeedingTrust,
} from '../../../core/settings/needs-trust.ts';
import { resolveSettings } from '../../../core/settings/resolve-settings.ts';
import {
  type ConfigText,
  configPlaces,
  findConfig,
  readFoundConfig,
} from '../../../effects/plan/config-search.ts';
import { noteTrust, revokeTrust, trustedAmong } from '../../../effects/plan/trust-store.ts';
import { InsideLoopError, UsageError } from '../../../errors.ts';
import { noTrustNeeded, powerLines, revoked, TRUSTED } from '../../../report/screens/trust.ts';
import { readConfig } from '../../settings/config-file.ts';
import { startFolder } from '../../tasks/named-folders.ts';

export interface TrustOptions {
  readonly revoke?: boolean;
}

/** `ralph trust [FILE]`: shows what in a configuration needs trust, and trusts its content. Refused inside a loop. */
export async function trust(
  name: string | undefined,
  options: TrustOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  if (env.RALPH_RUN_ID) throw new InsideLoopError('trust', null);
  if (options.revoke) {
    const file = name === undefined ? foundFrom(env).file : path.resolve(startFolder(), name);
    process.stdout.write(revoked(file, revokeTrust(file, env)));
    return 0;
  }
  const config = name === undefined ? foundFrom(env) : namedBy(name);
  const powers = readPowers(config);
  const places = configPlaces(path.dirname(config.file), env);
  if (powers.length === 0 && trustedAmong(places, env) === null) {
    process.stdout.write(noTrustNeeded(config.file));
    return 0;
  }
  process.stdout.write(powerLines(config.file, powers));
  await noteTrust(config, env);
  process.stdout.write(TRUSTED);
  return 0;
}

function foundFrom(env: NodeJS.ProcessEnv): ConfigText {
  const here = startFolder();
  const { config, problems, notices } = findConfig(here, env);
  if (config !== null) return config;
  const why = [...problems, ...notices];
  throw new UsageError(
    why.length > 0
      ? why
      : [
          `ralph trust expects a configuration, but there is none in ${here} or above. Name the file.`,
        ],
  );
}

function namedBy(name: string): ConfigText {
  const { config, problems, notices } = readFoundConfig(path.resolve(startFolder(), name));
  if (config === null) throw new UsageError([...problems, ...notices]);
  return config;
}

/** Throws a `UsageError` for an invalid file: once it is corrected, a person would have to trust it again. */
function readPowers(config: ConfigText): readonly SettingNeedingTrust[] {
  const { layer, vault, problems } = readConfig(config);
  const all = [...problems, ...resolveSettings([layer]).problems];
  if (all.length > 0) throw new UsageError(all);
  return settingsNeedingTrust(layer, vault);
}

import path from 'node:path';
import { type SettledSettings, settle } from '../../compose/settings.ts';
import { settingsFromEnvironment } from '../../core/settings/environment.ts';
import { trustedSettingsInForce } from '../../core/settings/needs-trust.ts';
import type { VaultLayer } from '../../core/settings/rescue-settings.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import { type Layer, textOf, type Written } from '../../core/settings/setting-source.ts';
import { type ConfigText, findConfig, readNamedConfig } from '../../effects/plan/config-search.ts';
import { setsLine } from '../../report/screens/trust.ts';
import type { ConfigSettings } from './config-file.ts';
import {
  type Ask,
  type ConfigNeedingTrust,
  configNeedingTrust,
  wantTrust,
} from './found-config.ts';

export interface CollectRequest {
  readonly flags: Layer;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
  /**
   * What to do with a configuration file that was found and that a person would have to trust, but has not. Default:
   * `refuse`. `show` uses it with `--dry-run` and refuses it otherwise; `leave-out` ignores it.
   */
  readonly untrusted?: 'refuse' | 'show' | 'leave-out';
  /** Asks a person before the configuration is refused; null or absent if nobody can be asked. */
  readonly ask?: Ask | null;
}

export interface CollectedSettings extends SettledSettings {
  /** The configuration's settings that only `ralph rescue` and `ralph watch` have. */
  readonly vault: VaultLayer;
  readonly notices: readonly string[];
  /** At most one sentence, printed at every start: the settings of a trusted configuration that need the trust. */
  readonly powers: readonly string[];
  /** The configuration file that was found but that nobody has trusted, or null. */
  readonly untrusted: ConfigNeedingTrust | null;
}

/** Takes each setting from the first source that has it. Rejects with a `UsageError` if a person must trust a file. */
export async function collectSettings(request: CollectRequest): Promise<CollectedSettings> {
  const { flags, env, startDir } = request;
  const variables = settingsFromEnvironment(env);
  const named = placedText(flags.config) ?? placedText(variables.layer.config);
  const search =
    named === undefined
      ? findConfig(startDir, env)
      : readNamedConfig(path.resolve(startDir, named.text), named.where);
  const read = search.config === null ? NO_CONFIG : await readConfig(search.config);
  // A file that the user names is trusted.
  const powerful =
    named === undefined ? configNeedingTrust({ config: search.config, read, startDir }, env) : null;
  const layers = [flags, variables.layer, read.layer];
  const use = await useOf(powerful, layers, request, search.problems);
  const config = use === 'left-out' ? NO_CONFIG : read;
  const settled = await settle({
    flags,
    variables: variables.layer,
    config: config.layer,
    taskTypes: config.taskTypes,
    startDir,
  });
  const powers = powerful === null || use !== 'used' ? [] : powersSaid(powerful, settled);
  return {
    ...settled,
    vault: config.vault,
    problems: [
      ...settled.valueProblems,
      ...search.problems,
      ...config.problems,
      ...settled.problems,
    ],
    notices: [...search.notices, ...variables.warnings],
    powers,
    untrusted: use === 'used' ? null : powerful,
  };
}

/** Loads the YAML reader only if there is a file to read. */
async function readConfig(config: ConfigText): Promise<ConfigSettings> {
  return (await import('./config-file.ts')).readConfig(config);
}

const NO_CONFIG: ConfigSettings = {
  layer: {},
  taskTypes: {},
  vault: {},
  problems: [],
};

type Use = 'used' | 'shown' | 'left-out';

/** Decides how to use a configuration, and may ask a person. Rejects with a `UsageError` if it is refused. */
async function useOf(
  powerful: ConfigNeedingTrust | null,
  layers: readonly Layer[],
  { untrusted = 'refuse', ask = null, env }: CollectRequest,
  problems: readonly string[],
): Promise<Use> {
  if (powerful === null || powerful.isTrusted) return 'used';
  if (untrusted === 'leave-out') return 'left-out';
  // The task file is not read here, since an untrusted configuration may have named it.
  const { dryRun, json } = resolveSettings(layers).settings;
  if (untrusted === 'show' && dryRun) return 'shown';
  // With `--json`, a program reads the output and cannot answer a question.
  await wantTrust(powerful, json ? null : ask, env, problems);
  return 'used';
}

function powersSaid(
  { file, powers }: ConfigNeedingTrust,
  { sources }: SettledSettings,
): readonly string[] {
  const inForce = trustedSettingsInForce(powers, sources);
  return inForce.length === 0 ? [] : [setsLine(file, inForce)];
}

function placedText(
  written: Written | undefined,
): { readonly text: string; readonly where: string } | undefined {
  const text = textOf(written);
  return text === undefined || written === undefined
    ? undefined
    : { text, where: written.source.where };
}

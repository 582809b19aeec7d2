import path from 'node:path';
import { type SettledSettings, settle } from '../../compose/layers.ts';
import { findConfig, readNamedConfig } from '../../compose.ts';
import type { Layer, Written } from '../../core/setting-source.ts';
import type { VaultLayer } from '../../core/vault-settings.ts';
import type { ConfigSettings } from './config-file.ts';
import { settingsFromEnvironment } from './environment.ts';

export interface CollectRequest {
  readonly flags: Layer;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
}

export interface CollectedSettings extends SettledSettings {
  /** What the configuration says of `ralph rescue` and `ralph watch`. */
  readonly vault: VaultLayer;
  /** What was found odd on the way, one sentence each. */
  readonly notices: readonly string[];
}

/** Gathers the settings from everywhere they may be written, first hit wins. */
export async function collectSettings(request: CollectRequest): Promise<CollectedSettings> {
  const { flags, env, startDir } = request;
  const variables = settingsFromEnvironment(env);
  const named = placedText(flags.config) ?? placedText(variables.layer.config);
  const search =
    named === undefined
      ? findConfig(startDir, env)
      : readNamedConfig(path.resolve(startDir, named.text), named.where);
  // The YAML reader is loaded only where there is something to read.
  const config =
    search.config === null
      ? NO_CONFIG
      : (await import('./config-file.ts')).readConfig(search.config);
  const settled = await settle({
    flags,
    variables: variables.layer,
    config: config.layer,
    taskTypes: config.taskTypes,
    startDir,
  });
  return {
    ...settled,
    vault: config.vault,
    problems: [
      ...settled.valueProblems,
      ...search.problems,
      ...config.problems,
      ...settled.problems,
    ],
    notices: [...search.notices, ...config.notices, ...variables.warnings],
  };
}

const NO_CONFIG: ConfigSettings = {
  layer: {},
  taskTypes: {},
  vault: {},
  problems: [],
  notices: [],
};

function placedText(
  written: Written | undefined,
): { readonly text: string; readonly where: string } | undefined {
  const text = textOf(written);
  return text === undefined || written === undefined
    ? undefined
    : { text, where: written.source.where };
}

function textOf(written: Written | undefined): string | undefined {
  return typeof written?.value === 'string' ? written.value : undefined;
}

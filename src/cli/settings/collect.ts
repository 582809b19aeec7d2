import path from 'node:path';
import { type ConfigText, findConfig, readNamedConfig } from '../../compose/config.ts';
import { type SettledSettings, settle } from '../../compose/layers.ts';
import { resolveSettings } from '../../compose/resolve-settings.ts';
import { powersInForce } from '../../core/power.ts';
import type { Layer, Written } from '../../core/setting-source.ts';
import type { VaultLayer } from '../../core/vault-settings.ts';
import { setsLine } from '../../report/trust.ts';
import type { ConfigSettings } from './config-file.ts';
import { settingsFromEnvironment } from './environment.ts';
import {
  type Ask,
  noticeOf,
  type PowerfulConfig,
  powerfulConfig,
  wantTrust,
} from './found-config.ts';

export interface CollectRequest {
  readonly flags: Layer;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
  /**
   * What becomes of a found configuration that needs trust and has none. `refuse`, if nothing is given;
   * `show` uses it where only a plan is asked for, and refuses it otherwise; `leave-out` does without it.
   */
  readonly untrusted?: 'refuse' | 'show' | 'leave-out';
  /** Asks a person before it is refused; null, or absent, where nobody can be asked. */
  readonly ask?: Ask | null;
}

export interface CollectedSettings extends SettledSettings {
  /** What the configuration says of `ralph rescue` and `ralph watch`. */
  readonly vault: VaultLayer;
  /** What was found odd on the way, one sentence each. */
  readonly notices: readonly string[];
  /** What counts of a found configuration only since it is trusted: a sentence for every start, or none. */
  readonly powers: readonly string[];
  /** The found configuration that nobody has trusted; null where there is none. */
  readonly untrusted: PowerfulConfig | null;
}

/**
 * Gathers the settings from everywhere they may be written, first hit wins. Rejects with a `UsageError` for
 * a configuration that a person would have to trust first.
 */
export async function collectSettings(request: CollectRequest): Promise<CollectedSettings> {
  const { flags, env, startDir } = request;
  const variables = settingsFromEnvironment(env);
  const named = placedText(flags.config) ?? placedText(variables.layer.config);
  const search =
    named === undefined
      ? findConfig(startDir, env)
      : readNamedConfig(path.resolve(startDir, named.text), named.where);
  const read = search.config === null ? NO_CONFIG : await readConfig(search.config);
  // A file that was named is the user's own choice.
  const powerful =
    named === undefined ? powerfulConfig({ config: search.config, read, startDir }, env) : null;
  const use = await useOf(powerful, [flags, variables.layer, read.layer], request);
  const config = use === 'left-out' ? NO_CONFIG : read;
  const settled = await settle({
    flags,
    variables: variables.layer,
    config: config.layer,
    taskTypes: config.taskTypes,
    startDir,
  });
  const told = powerful === null ? NOTHING_TOLD : tell(powerful, use, settled);
  return {
    ...settled,
    vault: config.vault,
    problems: [
      ...settled.valueProblems,
      ...search.problems,
      ...config.problems,
      ...settled.problems,
    ],
    notices: [...search.notices, ...told.notices, ...variables.warnings],
    powers: told.powers,
    untrusted: use === 'used' ? null : powerful,
  };
}

/** The YAML reader is loaded only where there is something to read. */
async function readConfig(config: ConfigText): Promise<ConfigSettings> {
  return (await import('./config-file.ts')).readConfig(config);
}

const NO_CONFIG: ConfigSettings = {
  layer: {},
  taskTypes: {},
  vault: {},
  problems: [],
};

/** What becomes of a configuration. */
type Use = 'used' | 'shown' | 'left-out';

/** Asks a person where that is wanted. Rejects with a `UsageError` for what must not be used. */
async function useOf(
  powerful: PowerfulConfig | null,
  layers: readonly Layer[],
  { untrusted = 'refuse', ask = null, env }: CollectRequest,
): Promise<Use> {
  if (powerful === null || powerful.isTrusted) return 'used';
  if (untrusted === 'leave-out') return 'left-out';
  // Without the task file: no file that an untrusted one names is read before.
  const { dryRun, json } = resolveSettings(layers).settings;
  if (untrusted === 'show' && dryRun) return 'shown';
  // Who wants JSON is a program, and would wait for an answer that nobody gives.
  await wantTrust(powerful, json ? null : ask, env);
  return 'used';
}

type Told = Pick<CollectedSettings, 'notices' | 'powers'>;

const NOTHING_TOLD: Told = { notices: [], powers: [] };

function tell(powerful: PowerfulConfig, use: Use, { sources }: SettledSettings): Told {
  if (use === 'left-out') return NOTHING_TOLD;
  if (use === 'shown') return { notices: [noticeOf(powerful)], powers: [] };
  const { file, powers } = powerful;
  const inForce = powersInForce(powers, sources);
  return { notices: [], powers: inForce.length === 0 ? [] : [setsLine(file, inForce)] };
}

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

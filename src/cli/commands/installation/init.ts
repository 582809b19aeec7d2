import path from 'node:path';
import { type AgentName, isAgentName } from '../../../core/agent/agents/agents.ts';
import { configTemplate } from '../../../core/settings/config-template.ts';
import { parseValue } from '../../../core/settings/parse-value.ts';
import { SETTINGS } from '../../../core/settings/settings.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';
import { leadsOut } from '../../../effects/files/real-path.ts';
import {
  makeVaultFolders,
  projectTests,
  type SetUp,
  writeNewConfig,
} from '../../../effects/vault/vault-setup.ts';
import { UsageError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { renderInit, renderProjectInit } from '../../../report/screens/init.ts';
import { foldersOf, startFolder } from '../../tasks/named-folders.ts';

export interface InitOptions {
  readonly vault?: string;
  /** The agents to write into the configuration. */
  readonly agent?: string;
}

/**
 * `ralph init`: creates a configuration, and for a vault (a folder of task files) its folders. Overwrites nothing.
 */
export function init(options: InitOptions): number {
  const here = startFolder();
  const agents = options.agent === undefined ? null : agentsNamed(options.agent);
  const { vault, isNamed = false } = foldersOf(options);
  const tests = isNamed ? null : projectTests(vault);
  if (tests !== null) return initProject(vault, tests, agents);
  const folders = makeVaultFolders(vault);
  const isVaultThere = folders[0]?.kind !== 'refused';
  const done = [
    ...folders,
    ...(isVaultThere ? [writeNewConfig(vault, configTemplate('npm test', agents))] : []),
  ];
  const lines = done.map((each) => ({ ...each, path: shown(each, here) }));
  // ralph finds the configuration by itself only if it is started inside the vault.
  const isFound = isVaultThere && !leadsOut(here, vault);
  process.stdout.write(renderInit(lines, isFound, agents !== null));
  return done.some(({ kind }) => kind === 'refused') ? EXIT_FAILED : 0;
}

/** Creates only a configuration: a project needs no folders for task files, and a run makes all other folders. */
function initProject(folder: string, tests: string, agents: readonly AgentName[] | null): number {
  const made = writeNewConfig(folder, configTemplate(tests, agents));
  const line = { ...made, path: shown(made, startFolder()) };
  process.stdout.write(renderProjectInit(line, tests, agents !== null));
  return made.kind === 'refused' ? EXIT_FAILED : 0;
}

function agentsNamed(names: string): readonly AgentName[] {
  const parsed = parseValue(SETTINGS.agent.type, names);
  if ('problem' in parsed) throw new UsageError([`--agent ${parsed.problem}.`]);
  return names
    .split(',')
    .map((name) => name.trim())
    .filter(isAgentName);
}

function shown({ path: file }: SetUp, here: string): string {
  const below = path.relative(here, file) || '.';
  return oneLine(below.startsWith('..') ? file : below, 500);
}

import path from 'node:path';
import { AGENT_NAMES, type AgentName } from '../../core/agent/agents/agents.ts';
import { configTemplate } from '../../core/settings/config-template.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import { makeVaultFolders, type SetUp, writeNewConfig } from '../../effects/vault/vault-setup.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { renderInit } from '../../report/screens/init.ts';
import { foldersOf, startFolder } from '../tasks/named-folders.ts';

export interface InitOptions {
  readonly vault?: string;
  /** The agent that the configuration sets. */
  readonly agent?: string;
}

/** `ralph init`: creates the vault's folders and a commented configuration. Overwrites nothing. */
export function init(options: InitOptions): number {
  const here = startFolder();
  const agent = options.agent === undefined ? null : agentNamed(options.agent);
  const { vault } = foldersOf(options);
  const folders = makeVaultFolders(vault);
  const isVaultThere = folders[0]?.kind !== 'refused';
  const done = [
    ...folders,
    ...(isVaultThere ? [writeNewConfig(vault, configTemplate(agent))] : []),
  ];
  const lines = done.map((each) => ({ ...each, path: shown(each, here) }));
  // Inside the vault, its configuration is found.
  const isFound = isVaultThere && !leadsOut(here, vault);
  process.stdout.write(renderInit(lines, isFound, agent !== null));
  return done.some(({ kind }) => kind === 'refused') ? EXIT_FAILED : 0;
}

function agentNamed(name: string): AgentName {
  const agent = AGENT_NAMES.find((each) => each === name);
  if (agent !== undefined) return agent;
  throw new UsageError([`--agent expects one of ${AGENT_NAMES.join(', ')}; found '${name}'.`]);
}

function shown({ path: file }: SetUp, here: string): string {
  const below = path.relative(here, file) || '.';
  return oneLine(below.startsWith('..') ? file : below, 500);
}

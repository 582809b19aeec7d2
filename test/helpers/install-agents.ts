import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventAgent } from './conformance.ts';
import { binFolder, installProgram, type NpmProgram } from './install-program.ts';

/** The agents that the tests in `test/agents` run; `claude` has tests of its own. */
export type RealAgent = Exclude<EventAgent, 'claude'>;

const PACKAGES: Readonly<Record<RealAgent, Pick<NpmProgram, 'package' | 'version'>>> = {
  codex: { package: '@openai/codex', version: '0.169.0' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  opencode: { package: 'opencode-ai', version: '1.18.33' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4' },
  copilot: { package: '@github/copilot', version: '1.0.102' },
};

const AGENTS = Object.keys(PACKAGES) as RealAgent[];

function programOf(name: RealAgent): NpmProgram {
  return {
    name,
    ...PACKAGES[name],
    neededBy: 'test/agents',
    candidates: async (folder) =>
      name === 'opencode'
        ? await ofPlatform(folder, 'opencode-', join('bin', 'opencode'))
        : [join('node_modules', '.bin', name)],
  };
}

/** Without its installation script, the package itself has a placeholder only. */
async function ofPlatform(folder: string, prefix: string, path: string): Promise<string[]> {
  const names = await readdir(join(folder, 'node_modules'));
  return names
    .filter((name) => name.startsWith(prefix) && name !== 'opencode-ai')
    .map((name) => join('node_modules', name, path));
}

/** Returns the folder for PATH that has nothing but this agent. */
export function agentBinFolder(name: RealAgent): string {
  return binFolder(programOf(name));
}

/**
 * Installs the agents whose test files the command line names, else all, one at a time: the global set-up of the tests
 * in `test/agents`.
 */
export async function setup(): Promise<void> {
  const named = AGENTS.filter((name) =>
    process.argv.some((word) => word.endsWith(`agents/${name}.test.ts`)),
  );
  for (const name of named.length > 0 ? named : AGENTS) await installProgram(programOf(name));
}

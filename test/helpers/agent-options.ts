import { resolveSettings } from '../../src/core/settings/resolve-settings.ts';
import type { AgentOptions, OwnSettings } from '../../src/effects/agents/agent.ts';

/** What an agent is made from: the defaults, but for what is given. */
export function agentOptions(
  settings: Partial<OwnSettings> = {},
  more: Partial<Omit<AgentOptions, 'settings'>> = {},
): AgentOptions {
  return {
    settings: { ...resolveSettings([]).settings, model: null, agentBin: null, ...settings },
    passthrough: [],
    env: {},
    cwd: '/',
    ...more,
  };
}

/** What a command agent of these words is made from. */
export function commandOptions(
  words: readonly string[],
  more: Partial<Omit<AgentOptions, 'settings'>> = {},
): AgentOptions {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  return agentOptions({ agentCommand: quoted.join(' ') }, more);
}

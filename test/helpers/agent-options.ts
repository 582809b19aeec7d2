import { resolveSettings } from '../../src/core/settings/resolve-settings.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import type { AgentOptions } from '../../src/effects/agents/agent.ts';

/** What an agent is made from: the defaults, but for what is given. */
export function agentOptions(
  settings: Partial<Settings> = {},
  more: Partial<Omit<AgentOptions, 'settings'>> = {},
): AgentOptions {
  return {
    settings: { ...resolveSettings([]).settings, ...settings },
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

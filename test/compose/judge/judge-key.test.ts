import { expect, test } from 'vitest';
import { judgeKey } from '../../../src/compose/judge/judge-claim.ts';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { SettingName } from '../../../src/core/settings/settings.ts';
import { flagLayer } from '../../helpers/fleet-specs.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';

// A verdict holds on the same tree only for the same judge and the same criteria.

type Given = Readonly<Partial<Record<SettingName, unknown>>>;

function keyOf(given: Given = {}, agent: AgentName = 'command', model: string | null = null) {
  const { settings } = resolveSettings([flagLayer({ judgeCommand: './judge', ...given })]);
  const policy = loopPolicy({ agents: ['claude'] });
  return judgeKey({ agent, model }, { settings, policy, startDir: '/start' });
}

test.each([
  ['another command', keyOf({ judgeCommand: './judge --strict' })],
  ['other criteria', keyOf({ criterion: ['it adds'] })],
  ['another agent', keyOf({}, 'codex')],
  ['another model', keyOf({}, 'command', 'm')],
  ['another program', keyOf({ agentBin: ['command=/bin/other'] })],
])('%s is another judge', (_, key) => {
  expect(key).not.toBe(keyOf());
});

test("what is the worker's own changes nothing", () => {
  expect(keyOf({ model: ['other'], agentBin: ['/bin/worker'] })).toBe(keyOf());
});

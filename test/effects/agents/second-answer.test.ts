import { expect, test } from 'vitest';
import { agentKind } from '../../../src/compose/agent.ts';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { silentReader } from '../../../src/effects/agents/agent.ts';

/** What is known after these events, the last of which may be cut off. */
function factsOf(agent: AgentName, events: readonly object[]) {
  const { settings } = resolveSettings([]);
  const reader = silentReader(agentKind(agent, { settings, passthrough: [], env: {}, cwd: '/' }));
  for (const event of events) reader.push(Buffer.from(`${JSON.stringify(event)}\n`));
  reader.end();
  return reader.facts();
}

const said = (text: string) => ({ type: 'text', sessionID: 'ses_1', part: { type: 'text', text } });
const STEP = { type: 'step_start', sessionID: 'ses_1', part: {} };
const STOP = { type: 'step_finish', sessionID: 'ses_1', part: { reason: 'stop', cost: 0.1 } };
const LENGTH = { type: 'step_finish', sessionID: 'ses_1', part: { reason: 'length', cost: 0.1 } };

const message = (text: string) => ({
  type: 'item.completed',
  item: { type: 'agent_message', text },
});
const COMPLETED = { type: 'turn.completed', usage: { input_tokens: 2, output_tokens: 1 } };

test.for<[string, AgentName, readonly object[]]>([
  ['a step without an end', 'opencode', [STEP, said('Half.'), STOP, STEP, said('DONE')]],
  ['a step cut by its length', 'opencode', [STEP, said('Half.'), STOP, STEP, said('DONE'), LENGTH]],
  ['a step without a word', 'opencode', [STEP, said('DONE'), STOP, STEP]],
  ['a turn without an end', 'codex', [message('Half.'), COMPLETED, message('DONE')]],
])('%s after an answer is not answered', ([, agent, events]) => {
  expect(factsOf(agent, events).result).toBeNull();
});

test('an answer after another one counts', () => {
  const { result, finalMessage } = factsOf('opencode', [STEP, STOP, STEP, said('DONE'), STOP]);
  expect({ isError: result?.isError, finalMessage }).toEqual({
    isError: false,
    finalMessage: 'DONE',
  });
});

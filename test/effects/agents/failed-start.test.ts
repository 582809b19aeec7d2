import { describe, expect, test } from 'vitest';
import { agentKind } from '../../../src/compose/agent.ts';
import { AGENTS, type AgentName } from '../../../src/core/agent/agents/agents.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import { inContext } from '../../../src/core/agent/outcome.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { silentReader } from '../../../src/effects/agents/agent.ts';
import { attemptFacts } from '../../helpers/attempt-facts.ts';

const WORDS = 'Failed to load the tool registry (E-12)';

/** How each agent tells an error that ralph does not know, and how it shows that the model works. */
const AGENT_LINES: readonly (readonly [AgentName, told: readonly object[], works: object])[] = [
  [
    'claude',
    [{ type: 'result', subtype: 'success', is_error: true, result: WORDS, num_turns: 1 }],
    { type: 'assistant', message: { model: 'm', content: [{ type: 'text', text: 'On it.' }] } },
  ],
  [
    'codex',
    [
      { type: 'thread.started', thread_id: '00000000-0000-4000-8000-000000000001' },
      { type: 'error', message: WORDS },
      { type: 'turn.failed', error: { message: WORDS } },
    ],
    { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'On it.' } },
  ],
  [
    'gemini',
    [
      { type: 'init', session_id: 's1' },
      { type: 'result', status: 'error', error: { type: 'Error', message: WORDS }, stats: {} },
    ],
    { type: 'message', role: 'assistant', content: 'On it.' },
  ],
  [
    'opencode',
    [{ type: 'error', sessionID: 's1', error: { name: 'UnknownError', data: { message: WORDS } } }],
    { type: 'tool_use', sessionID: 's1', part: { tool: 'bash', callID: 'c', state: {} } },
  ],
  [
    'qwen',
    [
      { type: 'system', subtype: 'init', session_id: 's1' },
      {
        type: 'assistant',
        message: { content: [{ type: 'text', text: `[API Error: ${WORDS}]` }] },
      },
      { type: 'result', subtype: 'error', is_error: true, error: { message: WORDS } },
    ],
    { type: 'assistant', message: { content: [{ type: 'thinking', thinking: 'hm' }] } },
  ],
  [
    'copilot',
    [
      { type: 'session.error', data: { message: WORDS } },
      { type: 'result', sessionId: 's1', exitCode: 1 },
    ],
    { type: 'tool.execution_start', data: { toolCallId: 't', toolName: 'bash' } },
  ],
];

const OPTIONS = {
  settings: { ...resolveSettings([]).settings, agentCommand: './agent' },
  passthrough: [],
  env: {},
  cwd: '/',
};

function read(agent: AgentName, lines: readonly object[], stderrTail = '') {
  const reader = silentReader(agentKind(agent, OPTIONS));
  for (const line of lines) reader.push(Buffer.from(`${JSON.stringify(line)}\n`));
  reader.end();
  const end = { kind: 'exited', exitCode: 1 } as const;
  return attemptFacts({ ...reader.facts(), end, stderrTail });
}

describe('an error that ralph does not know', () => {
  test.for(AGENT_LINES)(
    'is a failed start of %s, unless the model has worked',
    ([agent, told, works]) => {
      const outcomeOf = (lines: readonly object[]) => {
        const facts = read(agent, lines);
        const at = '2026-11-28T12:00:00.000Z';
        return inContext(classify(facts, AGENTS[agent], at, { timeZone: 'UTC' }), facts, false);
      };
      const message = expect.stringContaining(WORDS);
      expect(outcomeOf(told)).toEqual({ kind: 'failed-start', message });
      expect(outcomeOf([works, ...told])).toEqual({ kind: 'errored', message });
    },
  );

  test('is a failed start of a command that has printed nothing but white space', () => {
    const kind = agentKind('command', OPTIONS);
    const worked = (output: string) => {
      const reader = silentReader(kind);
      reader.push(Buffer.from(output));
      reader.end();
      return reader.facts().worked;
    };
    expect([' \n\t', '', 'On it.'].map(worked)).toEqual([false, false, true]);
  });
});

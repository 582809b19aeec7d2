import { describe, expect, test } from 'vitest';
import { agentKind } from '../../../src/compose/agent.ts';
import { judgeKind } from '../../../src/compose/judge/judge-kind.ts';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import { AGENTS } from '../../../src/core/agent/agents/agents.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { SettingName } from '../../../src/core/settings/settings.ts';
import { flagLayer } from '../../helpers/fleet-specs.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';

// A judge is started with what keeps it from writing, and with nothing of what gives the worker its rights.

const RIGHTS = {
  ...{ permissionMode: 'acceptEdits', allowedTools: ['Bash'], dangerouslySkipPermissions: true },
  ...{ edit: true, verify: 'npm test', model: ['worker-model'] },
};

function started(
  agent: AgentName,
  given: Readonly<Partial<Record<SettingName, unknown>>> = {},
  model: string | null = null,
) {
  const { settings } = resolveSettings([flagLayer({ ...RIGHTS, ...given })]);
  const policy = loopPolicy({ agents: ['claude'] });
  const plan = { settings, policy, env: {}, startDir: '/start' };
  const judge = { agent, model };
  const cwd = '/checkout';
  const schemaFile = () => '/tmp/schema.json';
  const kind = judgeKind({ plan, judge, kindOf: agentKind, cwd, inSandbox: false, schemaFile });
  const args = kind.args({ resumeSession: null, budgetUsd: null });
  return { program: kind.program, args: args.map((word) => (word.startsWith('{') ? '{…}' : word)) };
}

describe('the judge is started', () => {
  test.each<[AgentName, readonly string[]]>([
    [
      'claude',
      [
        ...['--print', '--verbose', '--output-format', 'stream-json'],
        ...['--tools', 'Read,Grep,Glob', '--permission-mode', 'dontAsk'],
        ...['--setting-sources', 'user', '--strict-mcp-config', '--json-schema', '{…}'],
      ],
    ],
    [
      'codex',
      [
        ...['exec', '--json', '--skip-git-repo-check'],
        ...['-s', 'read-only', '--output-schema', '/tmp/schema.json', '-'],
      ],
    ],
    ['gemini', ['-o', 'stream-json', '--skip-trust', '--approval-mode', 'plan']],
    ['opencode', ['run', '--format', 'json', '--agent', 'ralph-judge']],
  ])('%s', (agent, args) => {
    expect(started(agent).args).toEqual(args);
  });

  test('qwen, with its mode once', () => {
    const { args } = started('qwen');
    expect(args.filter((word) => word === '--approval-mode')).toHaveLength(1);
    expect(args.join(' ')).toContain('--approval-mode plan --json-schema {…}');
  });

  test('with its own model and program', () => {
    const bins = { agentBin: ['claude=/bin/worker', 'codex=./judge'] };
    const { program, args } = started('codex', bins, 'gpt-5:high');
    expect(program).toBe('/start/judge');
    expect(args.join(' ')).toContain('-m gpt-5:high');
    expect(started('codex', { agentBin: ['/bin/worker'] }).program).toBe('codex');
    expect(started('claude', { agentBin: ['/bin/worker'] }).program).toBe('/bin/worker');
  });

  test('as a command, which is not looked for in the checkout', () => {
    expect(started('command', { judgeCommand: './judge.sh "a b"' })).toEqual({
      program: '/start/judge.sh',
      args: ['a b'],
    });
  });
});

test('opencode keeps the service that its user has named, and may only read', () => {
  const given = '{"provider":{"loop":{}},"permission":{"bash":"allow"}}';
  const permission = { '*': 'deny', read: 'allow', grep: 'allow', glob: 'allow', list: 'allow' };
  const variables = AGENTS.opencode.judging?.variables?.({
    OPENCODE_CONFIG_CONTENT: given,
    OPENCODE_PERMISSION: '{"bash":"allow"}',
  });
  expect(JSON.parse(variables?.OPENCODE_CONFIG_CONTENT ?? '')).toEqual({
    provider: { loop: {} },
    permission,
    agent: { 'ralph-judge': { mode: 'primary', permission } },
  });
  expect(JSON.parse(variables?.OPENCODE_PERMISSION ?? '')).toEqual(permission);
  const broken = AGENTS.opencode.judging?.variables?.({ OPENCODE_CONFIG_CONTENT: '{' });
  expect(broken?.OPENCODE_CONFIG_CONTENT).toContain('"*":"deny"');
});

test('an agent that nobody has tried is no judge', () => {
  expect(() => started('copilot')).toThrow('nobody has tried copilot');
});

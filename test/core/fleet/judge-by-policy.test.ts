import { describe, expect, test } from 'vitest';
import type { SettingName } from '../../../src/core/settings/settings.ts';
import type { FleetSpec } from '../../../src/fleet/core/fleet-task.ts';
import { judgeByPolicy } from '../../../src/fleet/core/judge-by-policy.ts';
import { withNamedCommands } from '../../../src/fleet/core/named-commands.ts';
import {
  DEFAULT_POLICY,
  readWorkerPolicy,
  type WorkerPolicy,
} from '../../../src/fleet/core/worker-policy.ts';
import { specWith } from '../../helpers/fleet-specs.ts';

type Asked = Partial<Record<SettingName, unknown>>;

function policyWith(data: object): WorkerPolicy {
  const read = readWorkerPolicy(data);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.policy;
}

/** What a policy with these keys says of a task; null if it may run. */
function judge(policy: object, asked: Asked, others: Partial<FleetSpec> = {}): string | null {
  return judgeByPolicy(specWith(asked, others), policyWith(policy));
}

test('an ordinary task may run without a policy file', () => {
  expect(judgeByPolicy(specWith(), DEFAULT_POLICY)).toBeNull();
  expect(judge({}, { permissionMode: 'acceptEdits', model: ['opus'], maxCost: '9' })).toBeNull();
});

describe('a task asks for more than is allowed', () => {
  const rows: readonly (readonly [object, Asked, Partial<FleetSpec>, string])[] = [
    [{}, {}, { repo: '/srv/app' }, 'repos: the task asks for the repository /srv/app'],
    [{}, {}, { repo: 'file:///srv/app' }, 'repos: '],
    [{ repos: ['https://example.com/x/*'] }, {}, {}, 'allows https://example.com/x/*.'],
    [{ repos: [] }, {}, {}, 'repos: '],
    [{}, { agent: 'codex' }, {}, 'agents: the task asks for --agent codex'],
    [{ agents: ['codex'] }, {}, {}, 'agents: the task asks for --agent claude'],
    [{}, { agent: 'claude,opencode' }, {}, 'agents: the task asks for --agent opencode'],
    [{}, { agentCommand: 'sh x' }, {}, 'agents: the task asks for --agent command'],
    [{}, { verify: ['curl x'] }, {}, "commands: the task asks for --verify 'curl x'"],
    [{}, { until: 'true' }, {}, "commands: the task asks for --until 'true'"],
    [{}, { after: 'true' }, {}, "commands: the task asks for --after 'true'"],
    [{}, { onEnd: 'true' }, {}, "commands: the task asks for --on-end 'true'"],
    [{}, { setup: 'npm ci' }, {}, "commands: the task asks for --setup 'npm ci'"],
    [{ agents: 'command' }, { agentCommand: 'sh x' }, {}, "--agent-command 'sh x'"],
    [
      { commands: { test: 'npm test' } },
      { verify: ['npm test'] },
      {},
      'allows @test. Its name there is @test: use --verify @test with ralph submit --again --task-id ',
    ],
    [
      { commands: { test: 'npm test' } },
      { verify: ['make'] },
      {},
      'allows @test. Give it a name under commands there, and use --verify @NAME with ralph submit --again --task-id ',
    ],
    [{ commands: { test: 'npm test' } }, { verify: ['@test', '@lint'] }, {}, "'@lint'"],
    [{ commands: { test: 'npm test' } }, { verify: ['@test; curl x'] }, {}, 'commands: '],
    [{ commands: { test: 'npm test' } }, { setup: '@toString' }, {}, 'commands: '],
    [{}, { verify: ['@test'] }, {}, "commands: the task asks for --verify '@test'"],
    [{ commands: 'any', sandbox: true }, { after: 'x' }, {}, 'sandbox: the task asks for --after,'],
    [{ commands: { x: 'x' }, sandbox: true }, { onEnd: '@x' }, {}, 'for --on-end, and'],
    [{}, { permissionMode: 'bypassPermissions' }, {}, 'permission_modes: '],
    [{ permission_modes: 'plan' }, { permissionMode: 'acceptEdits' }, {}, 'allows plan.'],
    [{}, { allowedTools: ['Bash'] }, {}, "allowed_tools: the task asks for --allowed-tools 'Bash'"],
    [{ permission_modes: 'plan' }, { edit: true }, {}, 'asks for --edit (acceptEdits)'],
    [{ commands: 'any' }, { edit: true, verify: ['npm test'] }, {}, '--edit (Bash(npm test:*))'],
    [
      { commands: { t: 'npm test' } },
      { edit: true, verify: ['@t'] },
      {},
      '--edit (Bash(npm test:*))',
    ],
    [{ allowed_tools: ['Edit'] }, { allowedTools: ['Edit,Bash'] }, {}, "'Bash'"],
    [{ allowed_tools: ['Edit'] }, { allowedTools: ['Edit Bash'] }, {}, "'Edit Bash'"],
    [{ allowed_tools: ['Bash(ls:*)'] }, { allowedTools: ['Bash(ls:*),Bash(rm:*)'] }, {}, 'rm'],
    [{ allowed_tools: ['Edit'] }, { allowedTools: ['Edit(', 'Bash)'] }, {}, "'Edit('"],
    [{}, { dangerouslySkipPermissions: true }, {}, 'skip_permissions: '],
    [{}, {}, { passthrough: ['--mcp-config', 'x'] }, "agent_arguments: the task asks for '--mcp"],
    [{ max_iterations: 20 }, { maxIterations: '21' }, {}, 'allows at most 20.'],
    [{ timeout: '1h' }, { timeout: '61m' }, {}, 'timeout: the task asks for --timeout 1h1m'],
    [{ max_cost: 2 }, { maxCost: '2.01' }, {}, 'max_cost: the task asks for --max-cost 2.01'],
    [{ max_cost: 2 }, {}, {}, 'max_cost: the task asks for no --max-cost'],
  ];

  test.for(rows)('%j: %j %j', ([policy, asked, others, words]) => {
    const verdict = judge(policy, asked, others);
    expect(verdict).toContain(words);
    expect(verdict).toMatch(/^\w+: the task asks for .* allows .*\.$/);
  });
});

describe('a policy allows it', () => {
  const rows: readonly (readonly [object, Asked, Partial<FleetSpec>])[] = [
    [{ repos: ['/srv/*'] }, {}, { repo: '/srv/app' }],
    [{ agents: ['claude', 'codex'] }, { agent: 'claude,codex' }, {}],
    [{ commands: 'any' }, { verify: ['curl x'], until: 'true', setup: 'npm ci' }, {}],
    [{ commands: { test: 'npm test' } }, { verify: ['@test'], setup: '@test' }, {}],
    [{ agents: 'command', commands: { agent: 'sh x' } }, { agentCommand: '@agent' }, {}],
    [{ permission_modes: ['dontAsk'] }, { permissionMode: 'dontAsk' }, {}],
    [{ allowed_tools: 'any' }, { allowedTools: ['Bash'] }, {}],
    [{ allowed_tools: ['Edit', 'Bash(ls:*)'] }, { allowedTools: ['Edit, Bash(ls:*)', 'Edit'] }, {}],
    [{ commands: 'any', allowed_tools: ['Bash(make)'] }, { edit: true, verify: ['make'] }, {}],
    [{ skip_permissions: true }, { dangerouslySkipPermissions: true }, {}],
    [{ agent_arguments: true }, {}, { passthrough: ['--x'] }],
    [
      { max_iterations: 20, timeout: '30m', max_cost: 2 },
      { maxIterations: '20', maxCost: '2' },
      {},
    ],
  ];

  test.for(rows)('%j: %j %j', ([policy, asked, others]) => {
    expect(judge(policy, asked, others)).toBeNull();
  });
});

/** A policy that allows everything. */
const GENEROUS = {
  ...{ repos: ['https://*', '/srv/*', 'ssh://*'], agents: ['claude'], commands: 'any' },
  ...{ allowed_tools: 'any', skip_permissions: true, agent_arguments: true },
};

describe('what no policy allows, though somebody wrote it into the database', () => {
  test.for([
    [{ repo: 'ext::sh -c x' }, 'ext::'],
    [{ repo: '-x' }, 'dash'],
    [{ repo: 'https://a:b@example.com/x' }, 'password'],
    [{ repo: '/srv/../etc' }, '..'],
    [{ task_id: 'a..b' }, 'a..b'],
    [{ task_id: '../x' }, '../x'],
    [{ base: '--upload-pack=x' }, '--base'],
    [{ branch: '../../x' }, '--branch'],
    [{ subdir: '../x' }, '--subdir'],
    [{ subdir: '/etc' }, '--subdir'],
    [{ priority: 101 }, '--priority'],
    [{ account: '../x' }, '--account'],
    [{ queue: 'A b' }, '--queue'],
    [{ task_type: 'weekly_payment' }, 'payments'],
    [
      { settings: { planFile: { value: '/etc/passwd', source: 'x', from: 'flag' } } },
      '--plan-file',
    ],
    [{ settings: { watchGlob: { value: ['{a,/etc/*}'], source: 'x', from: 'flag' } } }, '/etc'],
    [{ settings: { watchGlob: { value: 7, source: 'RALPH_X', from: 'flag' } } }, 'RALPH_X expects'],
    [{ repo: 7 }, 'not written by ralph submit'],
  ] as const)('%j', ([others, words]) => {
    expect(judge(GENEROUS, {})).toBeNull();
    expect(judge(GENEROUS, {}, others as unknown as Partial<FleetSpec>)).toContain(words);
  });
});

test('the command lines of a policy take the place of their names', () => {
  const policy = policyWith({
    agents: 'command',
    commands: { test: 'npm test', agent: 'sh x', done: 'test -e done' },
  });
  const asked = { verify: { unit: '@test', '@test': '@test' }, until: '@done', setup: '@test' };
  const spec = specWith({ ...asked, agentCommand: '@agent' });
  expect(judgeByPolicy(spec, policy)).toBeNull();
  const { settings, setup } = withNamedCommands(spec, policy);
  expect(settings.verify).toEqual({
    ...{ source: '--verify', from: 'flag' },
    value: [
      { name: 'unit', command: 'npm test' },
      { name: '@test', command: 'npm test' },
    ],
  });
  expect(settings.until?.value).toBe('test -e done');
  expect(settings.agentCommand?.value).toBe('sh x');
  expect(setup).toBe('npm test');
  expect(settings.maxIterations).toEqual(spec.settings.maxIterations);
  expect(withNamedCommands(spec, policyWith({ commands: 'any' }))).toEqual(spec);
});

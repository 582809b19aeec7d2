import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, readWorkerPolicy } from '../../../src/fleet/core/worker-policy.ts';

test.for([null, undefined, {}])('an empty file is the default policy: %j', (data) => {
  expect(readWorkerPolicy(data)).toEqual({ policy: DEFAULT_POLICY });
});

test('every key is read', () => {
  const data = {
    ...{ repos: 'https://example.com/*', agents: 'claude,codex', commands: { t: 'npm test' } },
    ...{ permission_modes: ['plan'], allowed_tools: ['Edit'], skip_permissions: true },
    ...{ agent_arguments: true, max_iterations: 30, timeout: '8h', max_cost: 2.5 },
    ...{ sandbox: true, allow_net: ['registry.example.org'], sandbox_checks: false },
  };
  const read = readWorkerPolicy(data);
  const source = (where: string) => ({ source: { kind: 'config', where } });
  expect(read).toEqual({
    policy: {
      ...{ repos: ['https://example.com/*'], agents: ['claude', 'codex'] },
      ...{ commands: new Map([['t', 'npm test']]), permissionModes: ['plan'] },
      ...{ allowedTools: ['Edit'], skipPermissions: true, agentArguments: true },
      ...{ maxIterations: 30, timeoutMs: 28_800_000, maxCostUsd: 2.5 },
      sandbox: {
        sandbox: { value: true, ...source('sandbox') },
        allowNet: { value: ['registry.example.org'], ...source('allow_net') },
        sandboxChecks: { value: false, ...source('sandbox_checks') },
      },
    },
  });
});

test.for([
  [{ commands: 'none' }, { commands: 'none' }],
  [{ commands: 'any' }, { commands: 'any' }],
  [{ allowed_tools: 'any' }, { allowedTools: 'any' }],
  [{ allowed_tools: 'none' }, { allowedTools: [] }],
  [{ agents: ['claude', 'claude'] }, { agents: ['claude'] }],
] as const)('%j', ([data, expected]) => {
  expect(readWorkerPolicy(data)).toEqual({ policy: { ...DEFAULT_POLICY, ...expected } });
});

describe('what is wrong is told, each in a sentence', () => {
  test.for([
    [[], 'A policy has keys and values'],
    ['agents', 'A policy has keys and values'],
    [{ agent: 'claude' }, 'agent is not a key of a policy; did you mean agents?'],
    [{ command: 'any' }, 'did you mean commands?'],
    [{ alow_net: ['x'] }, 'did you mean allow_net?'],
    [{ zzzzzzzzzz: 1 }, 'expected one of repos, agents, commands'],
    [{ __proto__x: 1 }, '__proto__x is not a key'],
    [{ toString: 1 }, 'toString is not a key'],
    [
      { agents: 'claud' },
      "agents expects one of claude, .*found 'claud' \\(did you mean claude\\?",
    ],
    [{ agents: [] }, 'agents expects'],
    [{ repos: 7 }, 'repos expects text'],
    [{ repos: ['*'] }, "repos '\\*' expects a repository"],
    [{ repos: ['http://x/*'] }, 'http is refused'],
    [{ repos: ['ext::x'] }, 'helper of git'],
    [{ commands: 'some' }, 'commands expects none, any, or names'],
    [{ commands: ['npm test'] }, 'commands expects none, any, or names'],
    [{ commands: { 'a b': 'x' } }, "found 'a b'"],
    [{ commands: { a: '' } }, 'commands expects a command line for a; found ""'],
    [{ commands: { a: 1 } }, 'commands expects a command line for a; found 1'],
    [{ skip_permissions: 'yes' }, 'skip_permissions expects true or false; found "yes"'],
    [{ agent_arguments: 1 }, 'agent_arguments expects true or false'],
    [{ allowed_tools: { a: 1 } }, 'allowed_tools expects any, none, or a list'],
    [{ permission_modes: [1] }, 'permission_modes expects text'],
    [{ max_iterations: 0 }, 'max_iterations expects a whole number'],
    [{ timeout: 'late' }, 'timeout expects a duration'],
    [{ max_cost: 0 }, 'max_cost expects an amount'],
    [{ sandbox: 'maybe' }, 'sandbox expects true or false'],
    [{ sandbox: true, allow_net: ['*'] }, 'would allow every host'],
    [{ agents: null }, 'agents expects'],
  ] as const)('%j', ([data, words]) => {
    const read = readWorkerPolicy(data);
    if ('policy' in read) throw new Error('the policy was taken');
    expect(read.problems).toHaveLength(1);
    expect(read.problems[0]).toMatch(new RegExp(words));
  });

  test('all problems are reported at once', () => {
    const read = readWorkerPolicy({ agent: 1, timeout: 'x', sandbox: 7 });
    expect('problems' in read && read.problems).toHaveLength(3);
  });
});

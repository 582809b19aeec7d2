import { expect, test } from 'vitest';
import {
  rulesForChecks,
  type Surroundings,
  sandboxRules,
} from '../../../src/core/sandbox/default-rules.ts';
import type { AskedRules, SandboxRule } from '../../../src/core/sandbox/rules.ts';

const NOTHING: AskedRules = {
  ...{ allowWrite: [], denyRead: [], allowRead: [], allowNet: [], keepEnv: [] },
  ...{ unixSockets: false, checksInside: true },
};

const SURROUNDINGS: Surroundings = {
  home: '/home/u',
  workFolder: '/home/u/w/part',
  treeRoot: '/home/u/w',
  commonGitFolder: '/home/u/main/.git',
  gitFolders: [
    {
      path: '/home/u/main/.git',
      isOfWorkTree: false,
      isTracked: false,
      hooks: '/home/u/main/.husky/_',
    },
    {
      path: '/home/u/main/.git/worktrees/w',
      isOfWorkTree: true,
      isTracked: false,
      hooks: '/home/u/main/.git/worktrees/w/hooks',
    },
  ],
  gitLinks: ['/home/u/w/.git'],
  shown: ['/home/u/.cargo', '/home/u/.config/git'],
  vaultFolders: ['/vault/In_Progress'],
  fixedFolders: ['/vault/.ralph_state', '/vault/Approved'],
  fixed: ['/home/u/w/prompt.md'],
  keyFolder: '/home/u/.local/state/ralph',
  namedKey: null,
  agents: ['claude'],
  env: {},
};

const valuesOf = (rules: readonly SandboxRule[]): readonly string[] =>
  rules.map(({ value }) => value);
const by = (value: string, from = '--flag'): SandboxRule => ({ value, from });

test('the agent writes its work, the folder of git, its own state and the vault, and nothing else', () => {
  const { allowWrite } = sandboxRules(SURROUNDINGS, NOTHING);
  expect(allowWrite).toEqual(
    ['/home/u/w/part', '/home/u/main/.git', '/home/u/.claude', '/vault/In_Progress'].map((value) =>
      by(value, 'default'),
    ),
  );
  const asked = { ...NOTHING, allowWrite: [by('/srv/data', '--allow-write')] };
  expect(sandboxRules(SURROUNDINGS, asked).allowWrite.at(-1)).toEqual(
    by('/srv/data', '--allow-write'),
  );
});

test.for([
  '/home/u/main/.git/hooks',
  '/home/u/main/.git/config',
  '/home/u/main/.git/commondir',
  '/home/u/main/.husky/_',
  '/home/u/main/.git/worktrees/w/config.worktree',
  '/home/u/main/.git/worktrees/w/commondir',
  '/home/u/w/.git',
  '/vault/.ralph_state',
  '/vault/Approved',
  '/home/u/w/prompt.md',
  '/home/u/w/.mcp.json',
  '/home/u/w/part/.mcp.json',
  '/home/u/w/.claude/settings.json',
  '/home/u/w/ralph.config.json',
  '/home/u/.claude/settings.json',
  '/home/u/.claude/CLAUDE.md',
  '/home/u/.claude/.claude.json',
] as const)('%s is never written', (place) => {
  const everything = { ...NOTHING, allowWrite: [by(place)] };
  expect(valuesOf(sandboxRules(SURROUNDINGS, everything).denyWrite)).toContain(place);
});

test('the names that stay as they are do so in each allowed folder', () => {
  const asked = { ...NOTHING, allowWrite: [by('/srv/lib', '--allow-write')] };
  const denied = valuesOf(sandboxRules(SURROUNDINGS, asked).denyWrite);
  expect(denied).toEqual(
    expect.arrayContaining(['/srv/lib/.vscode', '/srv/lib/.claude/settings.json']),
  );
});

test('keys, other logins and the sockets of services are hidden, and the login of the agent is not', () => {
  const hidden = valuesOf(sandboxRules(SURROUNDINGS, NOTHING).denyRead);
  for (const place of ['.ssh', '.netrc', '.config/gh', '.bash_history', '.codex', '.gemini']) {
    expect(hidden).toContain(`/home/u/${place}`);
  }
  expect(hidden).toContain('/home/u/.local/state/ralph');
  expect(hidden).toContain('/run');
  expect(hidden).not.toContain('/home/u/.claude');
  const codex = sandboxRules({ ...SURROUNDINGS, agents: ['codex'] }, NOTHING);
  expect(valuesOf(codex.denyRead)).toContain('/home/u/.claude');
  expect(valuesOf(codex.denyRead)).toContain('/home/u/.claude.json');
  expect(valuesOf(codex.denyRead)).not.toContain('/home/u/.codex');
});

test('what the user allows by its very path is not hidden, unless the user hides it as well', () => {
  const shown = { ...NOTHING, allowRead: [by('/home/u/.npmrc')] };
  expect(valuesOf(sandboxRules(SURROUNDINGS, shown).denyRead)).not.toContain('/home/u/.npmrc');
  const both = sandboxRules(SURROUNDINGS, { ...shown, denyRead: [by('/home/u/.npmrc')] });
  expect(valuesOf(both.denyRead)).toContain('/home/u/.npmrc');
  expect(valuesOf(both.allowRead)).not.toContain('/home/u/.npmrc');
  const above = sandboxRules(SURROUNDINGS, { ...NOTHING, allowRead: [by('/home/u')] });
  expect(valuesOf(above.denyRead)).toContain('/home/u/.npmrc');
});

test('of the home the hidden entries show what programs need, unless the user hides it', () => {
  const plain = sandboxRules(SURROUNDINGS, NOTHING);
  expect(plain.hiddenHome).toBe('/home/u');
  expect(valuesOf(plain.allowRead)).toEqual([
    ...['/home/u/.cargo', '/home/u/.config/git', '/home/u/.claude.json'],
  ]);
  expect(valuesOf(rulesForChecks(plain).allowRead)).not.toContain('/home/u/.claude.json');
  const hidden = sandboxRules(SURROUNDINGS, { ...NOTHING, denyRead: [by('/home/u/.config')] });
  expect(valuesOf(hidden.allowRead)).toEqual(['/home/u/.cargo', '/home/u/.claude.json']);
  const shown = sandboxRules(SURROUNDINGS, { ...NOTHING, allowRead: [by('/home/u')] });
  expect(shown.hiddenHome).toBeNull();
  expect(sandboxRules({ ...SURROUNDINGS, home: '/' }, NOTHING).hiddenHome).toBeNull();
});

test('a named key is hidden, and sockets of the desktop where some may be opened', () => {
  const facts = { ...SURROUNDINGS, namedKey: '/keys/shared' };
  const { denyRead } = sandboxRules(facts, { ...NOTHING, unixSockets: true });
  expect(valuesOf(denyRead)).toEqual(expect.arrayContaining(['/keys/shared', '/tmp/.X11-unix']));
});

test('an agent reaches its own hosts, the address of its API, and what the user names', () => {
  const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000/v1' };
  const asked = { ...NOTHING, allowNet: [by('registry.example.org')] };
  const { allowNet } = sandboxRules({ ...SURROUNDINGS, env }, asked);
  expect(valuesOf(allowNet)).toEqual([
    ...['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com'],
    ...['127.0.0.1:4000', 'registry.example.org'],
  ]);
});

test('an agent whose folder a variable moves has it there', () => {
  const moved = (env: Record<string, string>, agent: 'claude' | 'opencode') =>
    valuesOf(sandboxRules({ ...SURROUNDINGS, agents: [agent], env }, NOTHING).allowWrite);
  expect(moved({ CLAUDE_CONFIG_DIR: '/data/claude' }, 'claude')).toContain('/data/claude');
  expect(moved({ XDG_DATA_HOME: '/data' }, 'opencode')).toContain('/data/opencode');
});

test('variables with secrets are dropped, but for those of the agent and the named ones', () => {
  const env = {
    PATH: '/usr/bin',
    ANTHROPIC_API_KEY: 'sk-ant-api03-0123456789abcdefghij',
    GITHUB_TOKEN: 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    NPM_TOKEN: 'a1b2c3d4e5f6g7h8',
    SSH_AUTH_SOCK: '/run/user/1000/agent',
    DOCKER_HOST: 'tcp://10.0.0.1:2375',
    RALPH_VERIFY: 'curl -H "Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345"',
    RALPH_STATE_FILE: '/w/.ralph_state/token-work/state.json',
    RALPH_RUN_ID: '0b9f9e1c-7c8f-4a52-9be1-0d9a6cf2a1b3',
  };
  const asked = { ...NOTHING, keepEnv: [by('NPM_TOKEN')] };
  const rules = sandboxRules({ ...SURROUNDINGS, env }, asked);
  expect(valuesOf(rules.dropEnv)).toEqual([
    'DOCKER_HOST',
    'GITHUB_TOKEN',
    'RALPH_VERIFY',
    'SSH_AUTH_SOCK',
  ]);
  expect(valuesOf(rules.keepEnv)).toEqual(['ANTHROPIC_API_KEY', 'NPM_TOKEN']);
  expect(JSON.stringify(rules)).not.toContain('ghp_');
});

test('a check has neither the login of the agent nor its hosts, but what the user named', () => {
  const env = {
    ANTHROPIC_API_KEY: 'sk-ant-api03-0123456789abcdefghij',
    AWS_BEARER_TOKEN_BEDROCK: 'x',
    DB_PASSWORD: 'x',
  };
  const asked = { ...NOTHING, allowNet: [by('db.example.com:5432')] };
  const ofAgent = sandboxRules({ ...SURROUNDINGS, env }, asked);
  expect(valuesOf(ofAgent.dropEnv)).toEqual(['DB_PASSWORD']);
  const rules = rulesForChecks(ofAgent);
  expect(valuesOf(rules.allowNet)).toEqual(['db.example.com:5432']);
  expect(valuesOf(rules.dropEnv)).toEqual(expect.arrayContaining(Object.keys(env)));
  expect(valuesOf(rules.allowWrite)).not.toContain('/home/u/.claude');
  expect(valuesOf(rules.allowWrite)).toContain('/home/u/w/part');
  expect(valuesOf(rules.denyRead)).toEqual(
    expect.arrayContaining(['/home/u/.claude', '/home/u/.claude.json']),
  );
  const named = { ...asked, keepEnv: [by('ANTHROPIC_API_KEY')] };
  const kept = rulesForChecks(sandboxRules({ ...SURROUNDINGS, env }, named));
  expect(valuesOf(kept.dropEnv)).not.toContain('ANTHROPIC_API_KEY');
});

test('where variables say that logins and histories are, nobody reads them', () => {
  const env = {
    ...{ KUBECONFIG: '/srv/kube/one:/srv/kube/two', DOCKER_CONFIG: '/srv/docker/', NETRC: 'netrc' },
    ...{ HISTFILE: '/dev/null', XDG_CONFIG_HOME: '/srv/config', GNUPGHOME: '/home/u/w' },
  };
  const { denyRead } = sandboxRules({ ...SURROUNDINGS, env }, NOTHING);
  const without = valuesOf(sandboxRules(SURROUNDINGS, NOTHING).denyRead);
  expect(without).not.toContain('/gh');
  const more = valuesOf(denyRead).filter((place) => !without.includes(place));
  expect(more).toEqual(
    expect.arrayContaining(['/srv/kube/one', '/srv/kube/two', '/srv/docker', '/srv/config/gh']),
  );
  // Neither a device, nor what the agent works in, nor a name that means another file in each folder.
  expect(more.every((place) => place.startsWith('/srv/'))).toBe(true);
});

test('hooks that are turned off with /dev/null fix nothing there', () => {
  const gitFolders = [
    { path: '/home/u/w/.git', isOfWorkTree: false, isTracked: false, hooks: '/dev/null' },
  ];
  const { denyWrite } = sandboxRules({ ...SURROUNDINGS, gitFolders }, NOTHING);
  expect(valuesOf(denyWrite)).toContain('/home/u/w/.git/hooks');
  expect(valuesOf(denyWrite)).not.toContain('/dev/null');
});

import { chmodSync, chownSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { DEFAULT_POLICY } from '../../../src/fleet/core/worker-policy.ts';
import { readAccountsFile } from '../../../src/fleet/worker-files/accounts-file.ts';
import { readPolicyFile } from '../../../src/fleet/worker-files/policy-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function fileWith(text: string, mode = 0o600): Promise<string> {
  const file = join(await tempFolder(), 'own.yaml');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** The problems for which a file is refused. */
function refusal(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  throw new Error('the file was taken');
}

describe('the policy file', () => {
  test.for([
    ['agents: [claude, codex]\n', 0o644],
    ['{"agents": ["claude", "codex"]}', 0o600],
  ] as const)('is YAML or JSON: %s', async ([text, mode]) => {
    const file = await fileWith(text, mode);
    expect(readPolicyFile(file)).toEqual({ ...DEFAULT_POLICY, agents: ['claude', 'codex'] });
  });

  test.for(['', '# nothing yet\n', '{}'])('may be empty: %j', async (text) => {
    expect(readPolicyFile(await fileWith(text))).toEqual(DEFAULT_POLICY);
  });

  test.for([
    [0o666, 'everyone can write to it'],
    [0o602, 'everyone can write to it'],
  ] as const)('with mode %o: %s', async ([mode, why]) => {
    const file = await fileWith('agents: [claude]\n', mode);
    const [problem] = refusal(() => readPolicyFile(file));
    expect(problem).toContain('--policy expects a file of your own');
    expect(problem).toContain(why);
  });

  test('that is a link is judged by what it leads to', async () => {
    const file = await fileWith('agents: [codex]\n', 0o666);
    const link = `${file}-link`;
    symlinkSync(file, link);
    expect(refusal(() => readPolicyFile(link))[0]).toContain('everyone can write to it');
    chmodSync(file, 0o600);
    expect(readPolicyFile(link).agents).toEqual(['codex']);
  });

  test.runIf(process.getuid?.() === 0)('of another user', async () => {
    const file = await fileWith('agents: [claude]\n');
    chownSync(file, 1234, 1234);
    expect(refusal(() => readPolicyFile(file))[0]).toContain('it belongs to another user (1234)');
  });

  test.for([
    ['agents: [claude\n', /own\.yaml:\d+ is neither valid YAML nor JSON: /],
    ['agents: [claude]\nagents: [codex]\n', /own\.yaml:2 is neither valid YAML nor JSON: /],
    ['a: &a [*a]\n', /has aliases that cannot be resolved|neither valid/],
    ['agnets: [claude]\n', /own\.yaml: agnets is not a key of a policy; did you mean agents\?/],
    ['- claude\n', /own\.yaml: A policy has keys and values/],
    [`agents: ${'['.repeat(100)}`, /nested deeper than/],
  ] as const)('with %j', async ([text, words]) => {
    const file = await fileWith(text);
    const problems = refusal(() => readPolicyFile(file));
    expect(problems.join('\n')).toMatch(words);
  });

  test('is refused if it is missing or a folder', async () => {
    const folder = await tempFolder();
    for (const place of [folder, join(folder, 'nothing')]) {
      expect(refusal(() => readPolicyFile(place))[0]).toMatch(
        /^--policy expects a file that can be read; found: .*\.$/,
      );
    }
  });
});

describe('the accounts file', () => {
  test('has the environment of each account', async () => {
    const file = await fileWith('team:\n  ANTHROPIC_API_KEY: sk-1\n  HTTPS_PROXY: ""\nme: {}\n');
    expect([...readAccountsFile(file)]).toEqual([
      ['team', { ANTHROPIC_API_KEY: 'sk-1', HTTPS_PROXY: '' }],
      ['me', {}],
    ]);
  });

  test.for([0o644, 0o640, 0o660])('is refused if others can read it: %o', async (mode) => {
    const file = await fileWith('team: {}\n', mode);
    expect(refusal(() => readAccountsFile(file))[0]).toMatch(/chmod (600|g-w)\.$/);
  });

  test.for([
    ['', 'expects accounts with their variables'],
    ['[]', 'expects accounts with their variables'],
    ['{}', 'expects at least one account'],
    ['"a b": {}', "'a b' cannot be the name of an account"],
    ['team: hunter2', 'team expects variables with their values'],
    ['team: {A-B: hunter2}', "expects the name of a variable; found 'A-B'"],
    ['team: {KEY: 12345}', 'team.KEY expects a text; put the value in quotes'],
    ['team: {KEY: [hunter2]}', 'team.KEY expects a text'],
    ['team: {RALPH_RUN_ID: hunter2}', 'RALPH_RUN_ID is a variable of ralph itself'],
    ['team: {KEY: hunter2', 'is neither valid YAML nor JSON.'],
    ['team: {KEY: "\\q hunter2"}', 'is neither valid YAML nor JSON.'],
  ] as const)('with %j', async ([text, words]) => {
    const file = await fileWith(text);
    const problems = refusal(() => readAccountsFile(file));
    expect(problems.join('\n')).toContain(words);
    expect(problems.join('\n')).not.toMatch(/hunter2|12345/);
  });
});

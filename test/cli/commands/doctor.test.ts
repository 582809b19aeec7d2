import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type DoctorOptions,
  doctor as examine,
} from '../../../src/cli/commands/installation/doctor.ts';
import type { DoctorFinding } from '../../../src/core/agent/finding.ts';
import {
  agentFindings,
  folderFinding,
  renderFindings,
  sandboxFindings,
  spaceFindings,
} from '../../../src/report/screens/doctor.ts';
import { snapshotFindings } from '../../../src/report/screens/snapshot-findings.ts';
import { makeFakeClaude } from '../../helpers/fake-claude.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { writeTrusted } from '../../helpers/trusted-config.ts';

let printed = '';
beforeEach(() => {
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

/** A folder where all is well, and an environment in which nothing of this machine is found. */
async function healthy() {
  const home = await tempFolder();
  const vault = await tempFolder();
  const claude = await makeFakeClaude(join(home, 'bin'), []);
  const bin = join(home, 'tools');
  await mkdir(bin);
  await symlink(process.execPath, join(bin, 'node'));
  const git = '/usr/bin/git';
  await symlink(git, join(bin, 'git'));
  execFileSync(git, ['init', '-q', vault], { env: { PATH: '/usr/bin:/bin', HOME: home } });
  const env: Record<string, string> = {
    PATH: [claude.dir, bin, '/bin'].join(':'),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    ANTHROPIC_API_KEY: 'not-to-be-shown',
  };
  vi.spyOn(process, 'cwd').mockReturnValue(vault);
  return { home, vault, claude, bin, env };
}

const doctor = (options: DoctorOptions, env: NodeJS.ProcessEnv): Promise<number> =>
  examine(options, env, new AbortController().signal);

const lines = (kind: DoctorFinding['kind']): readonly string[] =>
  printed.split('\n').filter((line) => line.startsWith(kind));

describe('ralph doctor', () => {
  test('finds that nothing is missing, and changes nothing', async () => {
    const { vault, claude, env } = await healthy();
    const before = readdirSync(vault, { recursive: true });
    expect(await doctor({}, env)).toBe(0);
    expect(lines('problem')).toEqual([]);
    expect(lines('warning')).toEqual([]);
    expect(printed).toContain(`agent: ${claude.path}, 2.1.197 (Claude Code)`);
    expect(printed).toContain('login: ANTHROPIC_API_KEY (');
    expect(printed).not.toContain('not-to-be-shown');
    expect(printed).toContain(`vault: ${vault} is writable`);
    expect(printed).toContain(`git: ${vault} is a work tree`);
    expect(printed).toContain('disk: ');
    expect(printed).toMatch(/\nA run can start: no problems, 0 warnings\.\n$/);
    expect(readdirSync(vault, { recursive: true })).toEqual(before);
    expect(claude.calls()).toEqual([]);
  });

  test('warns of a remote to which a push takes all refs, and says what helps', async () => {
    const { vault, env } = await healthy();
    const git = (...args: string[]) =>
      execFileSync('/usr/bin/git', ['-C', vault, ...args], { env });
    git('remote', 'add', 'origin', '/nowhere');
    git('config', 'remote.origin.push', '+refs/*:refs/*');
    expect(await doctor({}, env)).toBe(0);
    expect(lines('warning')).toEqual([expect.stringContaining('git push origin')]);
    printed = '';
    git('config', '--add', 'remote.origin.push', '^refs/ralph/*');
    await doctor({}, env);
    expect(lines('warning')).toEqual([]);
    expect(printed).toContain('can keep the work tree');
    git('config', 'remote.origin.mirror', 'true');
    await doctor({}, env);
    expect(lines('warning')).toEqual([expect.stringContaining('remote.origin.mirror')]);
  });

  test('fails if there is no agent, and says where to get one', async () => {
    const { env } = await healthy();
    expect(await doctor({}, { ...env, RALPH_CLAUDE_BIN: './no-claude' })).toBe(1);
    expect(lines('problem')).toEqual([expect.stringContaining('no-claude is not there')]);
    expect(printed).toContain('-> install Claude Code');
    expect(printed).toContain('A run would fail: 1 problem, 0 warnings.');
  });

  test('fails if the agent does not work', async () => {
    const { bin, env } = await healthy();
    await symlink('/bin/false', join(bin, 'broken'));
    expect(await doctor({}, { ...env, RALPH_CLAUDE_BIN: join(bin, 'broken') })).toBe(1);
    expect(lines('problem')).toEqual([expect.stringContaining('does not answer to --version')]);
  });

  test('asks claude for its version without letting it update itself', async () => {
    const { bin, env } = await healthy();
    const script = '#!/bin/sh\necho "1.0 [$DISABLE_AUTOUPDATER]"\n';
    await writeFile(join(bin, 'mine'), script, { mode: 0o755 });
    await doctor({}, { ...env, RALPH_CLAUDE_BIN: join(bin, 'mine') });
    expect(printed).toContain('mine, 1.0 [1]\n');
  });

  test('looks for the agent that a flag names, and prints its version', async () => {
    const { bin, env } = await healthy();
    await writeFile(join(bin, 'codex'), '#!/bin/sh\necho "codex-cli 1.2"\n', { mode: 0o755 });
    expect(await doctor({ agent: 'codex' }, env)).toBe(0);
    expect(printed).toContain(`agent: ${join(bin, 'codex')}, codex-cli 1.2`);
    expect(printed).toContain('login: not checked; a run ends at once if codex is not logged in');
    expect(await doctor({ agent: 'gemini' }, env)).toBe(1);
    expect(printed).toContain('-> install gemini');
    expect(await doctor({ agent: 'gemini', agentBin: [join(bin, 'codex')] }, env)).toBe(0);
  });

  test('looks for every agent of a list', async () => {
    const { bin, env } = await healthy();
    const codex = join(bin, 'codex');
    expect(await doctor({ agent: 'claude,codex' }, env)).toBe(1);
    expect(printed).toContain('-> install codex');
    await writeFile(codex, '#!/bin/sh\necho "codex-cli 1.2"\n', { mode: 0o755 });
    expect(await doctor({ agent: 'claude,codex', agentBin: [`codex=${codex}`] }, env)).toBe(0);
    expect(printed).toContain(`agent: ${codex}, codex-cli 1.2`);
  });

  test('judges a command by its program alone', async () => {
    const { env } = await healthy();
    const { ANTHROPIC_API_KEY: _, ...without } = env;
    expect(await doctor({}, { ...without, RALPH_AGENT_COMMAND: 'sh -c "cat"' })).toBe(0);
    expect(lines('ok').join()).toMatch(/agent: \S+\/sh\b/);
    expect(printed).not.toContain('login');
    expect(await doctor({}, { ...without, RALPH_AGENT_COMMAND: 'no-such-agent' })).toBe(1);
    expect(await doctor({}, { ...without, RALPH_AGENT_COMMAND: '"open' })).toBe(1);
  });

  describe('on the login', () => {
    test.skipIf(process.platform === 'darwin')('fails if there is no sign of one', async () => {
      const { env } = await healthy();
      expect(await doctor({}, { ...env, ANTHROPIC_API_KEY: '' })).toBe(1);
      expect(lines('problem')).toEqual(['problem  login: no sign that claude is logged in']);
      expect(printed).toContain('claude setup-token');
    });

    test.for([
      ['.claude/.credentials.json', null],
      ['other/.credentials.json', 'other'],
      ['.claude/settings.json', null],
    ] as const)('accepts %s as a login', async ([file, config]) => {
      const { home, env } = await healthy();
      await mkdir(dirname(join(home, file)));
      await writeFile(join(home, file), '{"apiKeyHelper":"/bin/get-key"}');
      const own = config === null ? {} : { CLAUDE_CONFIG_DIR: join(home, config) };
      expect(await doctor({}, { ...env, ...own, ANTHROPIC_API_KEY: '' })).toBe(0);
      expect(printed).toContain(join(home, file));
    });

    test.for(['CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_USE_BEDROCK'])(
      'accepts %s as a login',
      async (name) => {
        const { env } = await healthy();
        expect(await doctor({}, { ...env, ANTHROPIC_API_KEY: '', [name]: '1' })).toBe(0);
      },
    );
  });

  describe('on folders', () => {
    test('fails if the vault is not a usable folder', async () => {
      const { home, env } = await healthy();
      await writeFile(join(home, 'file'), '');
      expect(await doctor({ vault: join(home, 'file', 'vault') }, env)).toBe(1);
      expect(lines('problem')[0]).toContain('cannot write to');
      expect(printed).toContain(
        '-> correct its owner or mode, or choose another folder with --vault',
      );
    });

    test('accepts a vault that does not exist yet', async () => {
      const { home, env } = await healthy();
      expect(await doctor({ vault: join(home, 'new', 'vault') }, env)).toBe(0);
      expect(printed).toContain('does not exist yet and can be created');
      expect(readdirSync(home)).not.toContain('new');
    });

    test('fails if the folder of the agent does not exist', async () => {
      const { home, env } = await healthy();
      expect(await doctor({ cwd: join(home, 'gone') }, env)).toBe(1);
      expect(lines('problem').join('\n')).toContain('--cwd expects an existing folder');
    });

    test('names links that lead out of the vault', async () => {
      const { home, vault, env } = await healthy();
      await symlink(home, join(vault, 'Done'));
      expect(await doctor({}, env)).toBe(0);
      expect(lines('warning')).toEqual([
        expect.stringContaining('Done is a link that leads out of the vault'),
      ]);
    });
  });

  test('fails with every problem of the settings', async () => {
    const { vault, env } = await healthy();
    await writeFile(join(vault, 'ralph.config.yaml'), 'max_iteration: 3\ndelay: soon\n');
    expect(await doctor({}, { ...env, RALPH_CONFIRM: '9', RALPH_TYPO: 'x' })).toBe(1);
    const problems = lines('problem').join('\n');
    expect(problems).toContain('did you mean max_iterations?');
    expect(problems).toContain('delay expects a duration');
    expect(problems).toContain('RALPH_CONFIRM (9) is more than');
    expect(lines('warning').join('\n')).toContain('ralph does not know the variable RALPH_TYPO');
  });

  describe('on a found configuration that nobody has trusted', () => {
    /** A program that leaves a trace where it is started. */
    async function trap(file: string): Promise<void> {
      await writeFile(file, `#!/bin/sh\ntouch '${file}.ran'\necho 1.2.3\n`, { mode: 0o755 });
    }

    test('fails, names its settings and what to do, and starts none of its programs', async () => {
      const { vault, env } = await healthy();
      await trap(join(vault, 'evil.sh'));
      const file = join(vault, 'ralph.config.yaml');
      await writeFile(file, 'claude_bin: ./evil.sh\nverify: x\n');
      expect(await doctor({}, env)).toBe(1);
      expect(lines('problem')).toEqual([
        `problem  settings: every run is refused: ${file} sets verify, agent_bin, and it is new, or has changed since you trusted it`,
      ]);
      expect(printed).toContain(
        `-> ralph trust shows the file and allows its use; or name it: --config ${file}\n`,
      );
      expect(lines('warning')).toEqual([`warning  agent: ${file} says which; it was not started`]);
      expect(readdirSync(vault)).not.toContain('evil.sh.ran');
    });

    test('ignores all its settings, so that no other setting finds a program of its folder', async () => {
      const { home, vault, claude, env } = await healthy();
      const clone = join(vault, 'clone');
      await mkdir(join(clone, 'bin'), { recursive: true });
      await trap(join(clone, 'bin', 'claude'));
      await writeFile(join(vault, 'ralph.config.yaml'), `cwd: clone\nvault: ${home}/none\n`);
      // A folder on PATH that is another one wherever the agent works.
      expect(await doctor({}, { ...env, PATH: `bin:${env.PATH}` })).toBe(1);
      expect(readdirSync(join(clone, 'bin'))).toEqual(['claude']);
      expect(printed).toContain(`agent: ${claude.path}, 2.1.197`);
      expect(printed).toContain(`vault: ${vault} is writable`);
    });

    test.for(['agent_command: ./evil.sh now', 'agent: codex'])(
      'says that it chooses the agent: %s',
      async (config) => {
        const { vault, env } = await healthy();
        const file = join(vault, 'ralph.config.yaml');
        await writeFile(file, `${config}\n`);
        expect(await doctor({}, env)).toBe(1);
        expect(lines('warning')).toEqual([
          `warning  agent: ${file} says which; it was not started`,
        ]);
        expect(lines('ok').some((line) => line.includes('agent: '))).toBe(false);
      },
    );

    test.for<[config: string, more: Record<string, string>, isItself: boolean]>([
      ['claude_bin: y', { RALPH_CLAUDE_BIN: 'claude' }, true],
      ['claude_bin: y', { RALPH_AGENT_COMMAND: 'sh' }, true],
      ['agent: codex', { RALPH_AGENT: 'claude' }, true],
      ['agent_command: x', { RALPH_AGENT: 'claude' }, true],
      ['agent_command: x', { RALPH_AGENT: 'command' }, false],
      ['claude_bin: y', { RALPH_AGENT: 'claude' }, false],
    ])(
      'looks at the agent that a variable chooses beside it: %j',
      async ([config, more, isItself]) => {
        const { vault, env } = await healthy();
        await writeFile(join(vault, 'ralph.config.yaml'), `${config}\n`);
        expect(await doctor({}, { ...env, ...more })).toBe(1);
        expect(lines('ok').some((line) => line.includes('agent: '))).toBe(isItself);
        expect(lines('warning').some((line) => line.includes('says which'))).toBe(!isItself);
      },
    );

    test('starts it once it is trusted, or named', async () => {
      const { home, vault, env } = await healthy();
      const file = join(vault, 'ralph.config.yaml');
      await trap(join(vault, 'mine.sh'));
      await writeTrusted(file, 'claude_bin: ./mine.sh\n', home);
      expect(await doctor({}, env)).toBe(0);
      expect(lines('warning')).toEqual([`warning  ${file} sets agent_bin`]);
      expect(printed).toContain('mine.sh, 1.2.3');
      await writeFile(file, 'claude_bin: ./mine.sh # changed\n');
      expect(await doctor({}, env)).toBe(1);
      expect(await doctor({ config: file }, env)).toBe(0);
    });
  });

  test.skipIf(process.getuid?.() !== 0)('knows what claude refuses to root', async () => {
    const { env } = await healthy();
    const bold = { ...env, RALPH_DANGEROUSLY_SKIP_PERMISSIONS: 'true' };
    expect(await doctor({}, bold)).toBe(1);
    expect(lines('problem')).toEqual([expect.stringContaining('for root')]);
    expect(await doctor({}, { ...bold, IS_SANDBOX: '1' })).toBe(0);
  });

  describe('on git', () => {
    test('says what ralph cannot see in a folder without a repository', async () => {
      const { home, env } = await healthy();
      expect(await doctor({ cwd: home }, env)).toBe(0);
      expect(lines('warning')).toEqual([expect.stringContaining('is not a work tree')]);
    });

    test('says where there is a repository git refuses to open', async () => {
      const { home, env } = await healthy();
      await mkdir(join(home, 'damaged', '.git'), { recursive: true });
      expect(await doctor({ cwd: join(home, 'damaged') }, env)).toBe(0);
      expect(lines('warning')).toEqual([expect.stringContaining('git refuses to open')]);
    });

    test('says where there is no git', async () => {
      const { bin, claude, env } = await healthy();
      const tools = join(bin, 'fewer');
      await mkdir(tools);
      await symlink(process.execPath, join(tools, 'node'));
      await symlink('/usr/bin/env', join(tools, 'env'));
      expect(await doctor({}, { ...env, PATH: `${claude.dir}:${tools}` })).toBe(0);
      expect(lines('warning')).toEqual([expect.stringContaining('git: not found on PATH')]);
    });
  });

  test('prints nothing after it is interrupted', async () => {
    const { env } = await healthy();
    expect(await examine({}, env, AbortSignal.abort())).toBe(130);
    expect(printed).toBe('');
  });

  test('names stale hooks with what to do', async () => {
    const { vault, env } = await healthy();
    await mkdir(join(vault, '.claude'));
    await writeFile(join(vault, '.claude', 'ralph-loop.local.md'), '');
    expect(await doctor({}, env)).toBe(0);
    expect(lines('warning')).toEqual([expect.stringMatching(/hooks: .*ralph-loop.*remove it$/)]);
  });

  test('names stale locks, interrupted tasks and broken states', async () => {
    const { vault, env } = await healthy();
    const states = join(vault, '.ralph_state');
    await mkdir(join(states, 'locks', 'locked'), { recursive: true });
    const driver = {
      ...{ pid: 1, pid_started_at: 'x', boot_id: 'x', host: 'elsewhere', pid_namespace: '' },
      ...{ run_id: 'x', beat_at: '2026-01-01T00:00:00.000Z' },
    };
    const claim = { phase: 'owner', ticket: 'x', driver };
    await writeFile(join(states, 'locks', 'locked', 'a.json'), JSON.stringify(claim));
    const started_at = '2026-01-01T00:00:00.000Z';
    const write = (name: string, state: unknown) =>
      writeFile(join(states, `${name}.json`), JSON.stringify(state));
    await write('cut', {
      schema_version: 1,
      task_id: 'cut',
      status: 'running',
      started_at,
      driver,
    });
    await write('well', { schema_version: 1, task_id: 'well', status: 'stopped', started_at });
    await write('newer', { schema_version: 999 });
    await writeFile(join(states, 'torn.json'), '{"task_id"');
    expect(await doctor({}, env)).toBe(0);
    expect(lines('warning').toSorted()).toEqual([
      expect.stringContaining('locks: locked is locked by a dead driver'),
      expect.stringContaining('newer.json was written by a newer ralph'),
      expect.stringContaining('torn.json is not a ralph state file'),
      expect.stringContaining('cut was interrupted'),
    ]);
    expect(printed).toContain('-> ralph resume cut\n');
    expect(printed).toContain('a run with --task-id torn sets it aside');
    expect(readdirSync(states, { recursive: true })).toContain(join('locks', 'locked', 'a.json'));
  });
});

test('names what the sandbox lacks, with the command that brings it', async () => {
  const { bin, claude, env } = await healthy();
  // Without bwrap, socat and rg, and with the login of the stand-in.
  const bare = { ...env, PATH: [claude.dir, bin].join(':') };
  const sentence =
    '--sandbox needs bubblewrap, socat and ripgrep; bubblewrap and socat and ripgrep are missing: apt install bubblewrap socat ripgrep';
  await doctor({}, bare);
  expect(lines('off')).toContainEqual(
    expect.stringMatching(`sandbox: not possible here: ${sentence}$`),
  );
  printed = '';
  expect(await doctor({}, { ...bare, RALPH_SANDBOX: '1' })).toBe(1);
  expect(lines('problem')).toContainEqual(expect.stringMatching(`sandbox: ${sentence}$`));
});

describe('its judgement', () => {
  const snapshots = {
    ...{ version: '2.39.5', objects: '/v/o' },
    ...{ probe: { kind: 'writable' }, leaks: [] },
  };
  const agent: Parameters<typeof agentFindings>[0] = {
    ...{ name: 'claude', program: { file: '/bin/claude' }, version: null },
    ...{ findings: [{ kind: 'warning', says: 'x', remedy: 'y' }], interferences: [] },
  };

  test.for<[string, readonly DoctorFinding[], readonly string[]]>([
    ['much room', spaceFindings(1024 ** 3, '/v'), ['ok']],
    ['little room', spaceFindings(1024 ** 3 - 1, '/v'), ['warning']],
    ['no room', spaceFindings(0, '/v'), ['problem']],
    ['room unknown', spaceFindings(null, '/v'), []],
    ['what the agent itself finds', agentFindings(agent), ['ok', 'warning']],
    [
      'a state folder',
      [folderFinding('state folder', '/s', { kind: 'not-writable', why: 'x' }, '--state-dir DIR')],
      ['problem'],
    ],
    ['a git that flushes', snapshotFindings(snapshots), ['ok']],
    [
      'a git that flushes nothing',
      snapshotFindings({ ...snapshots, version: '2.35.9' }),
      ['warning'],
    ],
    ['a newer git', snapshotFindings({ ...snapshots, version: '3.0.1' }), ['ok']],
    [
      'objects that cannot be written',
      snapshotFindings({ ...snapshots, probe: { kind: 'not-writable', why: 'x' } }),
      ['warning'],
    ],
    [
      'a remote that takes snapshots along',
      snapshotFindings({ ...snapshots, leaks: [{ says: 'x', remedy: 'y' }] }),
      ['warning'],
    ],
    ['no sandbox, which nobody wants', sandboxFindings(['x'], false), ['off']],
    ['no sandbox, which somebody wants', sandboxFindings(['x', 'y'], true), ['problem', 'problem']],
    ['a sandbox', sandboxFindings([], true), ['ok']],
  ])('%s', ([, found, expected]) => {
    expect(found.map(({ kind }) => kind)).toEqual(expected);
  });

  test('fails if the states cannot be listed', async () => {
    const { vault, env } = await healthy();
    await writeFile(join(vault, '.ralph_state'), '');
    expect(await doctor({}, env)).toBe(1);
  });

  test('gives a problem a remedy in the next line', () => {
    expect(renderFindings(spaceFindings(0, '/v'))).toMatch(
      /problem {2}disk: 0 B free.*\n {9}-> make room/,
    );
  });
});

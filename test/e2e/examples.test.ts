import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODES } from '../../scripts/settings-doc.ts';
import { shellWords } from '../../src/core/settings/shell-words.ts';
import { type FakeClaude, makeFakeClaude } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** A program that notes its arguments and what it reads, and writes these events. */
const agent = (events: readonly object[]): string => `#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
cat >> "$CALLS"
${events.map((event) => `printf '%s\\n' '${JSON.stringify(event)}'`).join('\n')}
`;

const WORDS = 'All is done.\n\n<promise>TASK_COMPLETE</promise>';

test.for([
  [
    'codex.sh',
    'codex',
    'exec --json --skip-git-repo-check -s workspace-write -',
    [
      { type: 'item.completed', item: { type: 'agent_message', text: WORDS } },
      { type: 'turn.completed', usage: {} },
    ],
  ],
  [
    'gemini.sh',
    'gemini',
    '-o stream-json --skip-trust --approval-mode yolo',
    [
      { type: 'message', role: 'assistant', content: WORDS, delta: true },
      { type: 'result', status: 'success', stats: {} },
    ],
  ],
] as const)('examples/%s drives %s', async ([script, name, args, events]) => {
  const folder = await tempFolder();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, name), agent(events));
  chmodSync(path.join(bin, name), 0o755);
  symlinkSync(path.join(ROOT, 'bin', 'ralph.js'), path.join(bin, 'ralph'));
  writeFileSync(path.join(folder, 'task.md'), 'Write the changelog.\n');
  const calls = path.join(folder, 'calls');

  const ended = spawnSync(path.join(ROOT, 'examples', script), ['task.md'], {
    cwd: folder,
    env: {
      PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      CALLS: calls,
    },
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });

  expect(ended.stdout).toBe(`${WORDS}\n`);
  expect(ended.status).toBe(0);
  const seen = readFileSync(calls, 'utf8');
  expect(seen.startsWith(`${args}\nWrite the changelog.\n`)).toBe(true);
});

const example = (name: string): string => readFileSync(path.join(ROOT, 'examples', name), 'utf8');

/** A machine with a node, this ralph and a project; claude only where it is asked for. */
interface Machine {
  readonly project: string;
  readonly home: string;
  readonly bin: string;
  /** Puts a scripted claude into a folder below the home. */
  install(turns: Turn | readonly Turn[]): Promise<FakeClaude>;
  /** A shell as jobs get it, with nothing of the test's environment. */
  shell(
    words: readonly string[],
    env: Readonly<Record<string, string>>,
  ): { status: number | null; stdout: string; stderr: string };
}

/** The task type `coding` holds a claim of an agent that has done nothing. */
const WORKED: Turn = { tools: [{ name: 'Edit' }] };

async function makeMachine(): Promise<Machine> {
  const root = await tempFolder();
  const [project, home, bin] = ['project', 'home', 'bin'].map((name) => path.join(root, name));
  if (project === undefined || home === undefined || bin === undefined)
    throw new Error('unreached');
  for (const folder of [path.join(project, 'tasks'), home, bin]) {
    mkdirSync(folder, { recursive: true });
  }
  symlinkSync(path.join(ROOT, 'bin', 'ralph.js'), path.join(bin, 'ralph'));
  symlinkSync(process.execPath, path.join(bin, 'node'));
  writeFileSync(path.join(project, 'tasks', 'nightly.md'), 'Tidy up.\n');
  return {
    project,
    home,
    bin,
    install: (turns) => makeFakeClaude(path.join(home, '.local', 'bin'), turns),
    shell(words, env) {
      const [file = '', ...args] = words;
      const all = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, ...env };
      const options = { cwd: project, env: all, encoding: 'utf8', timeout: PATIENCE_MS } as const;
      return spawnSync(file, args, options);
    },
  };
}

describe('examples/crontab', () => {
  const lines = example('crontab')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [setting = '', job = ''] = lines;

  /** Runs the job as cron does: its own variables, the line's PATH, `/bin/sh`, no terminal. */
  function runJob({ shell, project, bin }: Machine) {
    // An entry is five fields and a command, in which a percent sign would be a new line.
    const command = /^(?:[\d*,/-]+ ){5}([^%]+)$/.exec(job)?.[1] ?? '';
    expect(lines).toHaveLength(2);
    expect(command).toContain('/srv/project');
    const folders = setting.replace(/^PATH=/, '').split(':');
    expect(folders.every((folder) => path.isAbsolute(folder))).toBe(true);
    const searched = folders.map((folder) => (folder === '/usr/local/bin' ? bin : folder));
    expect(searched).toContain(bin);
    return shell(['/bin/sh', '-c', command.replace('/srv/project', project)], {
      PATH: searched.join(':'),
      LOGNAME: 'nobody',
      SHELL: '/bin/sh',
    });
  }

  test('runs with a bare PATH, finds claude in the home, and leaves nothing to mail', async () => {
    const machine = await makeMachine();
    const claude = await machine.install([
      { text: 'Not yet.' },
      { ...WORKED, text: 'NIGHTLY DONE' },
    ]);
    // Between its two iterations there is a pause of two seconds, which is not what is shown here.
    const config = path.join(machine.project, 'ralph.config.yaml');
    writeFileSync(config, 'delay: 0\n');
    const { status, stdout, stderr } = runJob(machine);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    const [first, second] = claude.calls();
    expect(first?.stdin.startsWith('Tidy up.\n')).toBe(true);
    expect(first?.argv.join(' ')).toContain('--permission-mode=acceptEdits');
    expect(second?.env).toMatchObject({ RALPH_TASK_ID: 'nightly', RALPH_MAX_ITERATIONS: '30' });
  });

  test('has something to mail when it ends badly', async () => {
    const { status, stdout, stderr } = runJob(await makeMachine());
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('claude was not found in');
    expect(stderr).toContain('RALPH_FAILED_nightly_');
  });
});

describe('examples/ralph-nightly.service', () => {
  test('runs with a bare environment, and goes on where the task stood', async () => {
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(example('ralph-nightly.service')) ?? [];
    const [program = '', ...args] = shellWords(command) ?? [];
    expect(program).toBe('/usr/local/bin/ralph');
    const machine = await makeMachine();
    const claude = await machine.install([{ ...WORKED, text: 'NIGHTLY DONE' }]);
    writeFileSync(path.join(machine.project, 'ralph.config.yaml'), 'delay: 0\n');
    const { status, stdout } = machine.shell([path.join(machine.bin, 'ralph'), ...args], {});
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'NIGHTLY DONE\n' });
    expect(claude.calls()[0]?.env).toMatchObject({ RALPH_TASK_ID: 'nightly' });
  });

  test('is started by the timer of its name, again where the service is away', () => {
    expect(example('ralph-nightly.service')).toMatch(/^RestartForceExitStatus=75$/m);
    expect(example('ralph-nightly.timer')).toMatch(/^OnCalendar=\*-\*-\* 02:00:00$/m);
  });
});

describe('examples/nightly.sh', () => {
  const script = path.join(ROOT, 'examples', 'nightly.sh');
  const SAYS: Readonly<Record<string, string>> = {
    0: 'done',
    1: 'cannot go on, the note says why',
    2: 'the command line is wrong',
    3: 'not finished in time, see Needs_Action',
    4: 'not finished in time, see Needs_Action',
    5: 'stuck, see Needs_Action',
    6: 'held, ralph resume goes on',
    7: 'already running',
    8: 'the money for it is spent',
    75: 'the service is away, try again later',
    129: 'stopped',
    130: 'stopped',
    143: 'stopped',
    70: 'unexpected',
    42: 'unexpected',
  };

  test('has something to say of every exit code, and passes it on', async () => {
    const { bin, shell } = await makeMachine();
    const stub = path.join(bin, 'stub');
    mkdirSync(stub);
    writeFileSync(path.join(stub, 'ralph'), '#!/bin/sh\nexit "$CODE"\n', { mode: 0o755 });
    const known = EXIT_CODES.flatMap(({ code }) => code.split(', '));
    expect(Object.keys(SAYS)).toEqual(expect.arrayContaining(known));
    for (const [code, said] of Object.entries(SAYS)) {
      const env = { PATH: `${stub}:/usr/bin:/bin`, CODE: code };
      const { status, stdout, stderr } = shell([script, 'tasks/nightly.md'], env);
      expect({ code, status, stdout, stderr }).toEqual({
        code,
        status: Number(code),
        stdout: `${said}\n`,
        stderr: '',
      });
    }
  });

  test('runs a task', async () => {
    const { install, shell } = await makeMachine();
    const claude = await install([{ ...WORKED, text: 'TASK_COMPLETE' }]);
    const { status, stdout, stderr } = shell([script, 'tasks/nightly.md'], {});
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: 'TASK_COMPLETE\ndone\n',
      stderr: '',
    });
    expect(claude.calls()[0]?.stdin.startsWith('Tidy up.\n')).toBe(true);
  });

  test('says how it is used', async () => {
    const { status, stdout, stderr } = (await makeMachine()).shell([script], {});
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('usage: nightly.sh TASK.md');
  });
});

describe('examples/github-actions.yml', () => {
  interface Step {
    readonly name?: string;
    readonly if?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
  }
  const workflow = parse(example('github-actions.yml'));
  const steps: readonly Step[] = workflow.jobs.agent.steps;
  const [install, check, work] = steps.filter((step) => step.run !== undefined);

  /** A runner gives each step to bash, which ends at the first command that fails. */
  function runStep({ shell }: Machine, step: Step | undefined) {
    return shell(['/bin/bash', '-e', '-c', step?.run ?? 'false'], {
      CI: 'true',
      ...(step?.env === undefined ? {} : { ANTHROPIC_API_KEY: 'sk-ant-loopback' }),
    });
  }

  test('installs this package, checks on a pull request and works at night', () => {
    const { name } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(install?.run).toContain(` ${name} `);
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'schedule']);
    expect(check).toMatchObject({ run: expect.stringContaining('--dry-run') });
    expect(check?.if).toBeUndefined();
    expect(work?.if).toBe("github.event_name == 'schedule'");
    expect(Object.keys(work?.env ?? {})).toEqual(['ANTHROPIC_API_KEY']);
  });

  test('checks the plan with no agent installed, and no key', async () => {
    const machine = await makeMachine();
    const { status, stdout, stderr } = runStep(machine, check);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('claude was not found in');
    expect(stdout).toContain('allows 9 iterations of full length');
  });

  test('does the work that it checked', async () => {
    const machine = await makeMachine();
    const claude = await machine.install([{ ...WORKED, text: 'All tidy.\n\nNIGHTLY DONE' }]);
    const { status, stdout } = runStep(machine, work);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'All tidy.\n\nNIGHTLY DONE\n' });
    expect(claude.calls()[0]).toMatchObject({
      argv: expect.arrayContaining(['--permission-mode=acceptEdits']),
      env: { ANTHROPIC_API_KEY: 'sk-ant-loopback' },
    });
  });

  test('is not held up by an outage: exit 75', async () => {
    const machine = await makeMachine();
    // By default a few quick tries come first, which is not what is shown here.
    writeFileSync(path.join(machine.project, 'ralph.config.yaml'), 'retries: 0\n');
    const outage = { isError: true, apiErrorStatus: 529, text: 'API Error: 529 Overloaded' };
    const claude = await machine.install(outage);
    const { status, stdout } = runStep(machine, work);
    expect({ status, stdout }).toEqual({ status: 75, stdout: '' });
    expect(claude.calls()).toHaveLength(1);
  });
});

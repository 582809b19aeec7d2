import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODES } from '../../scripts/settings-doc.ts';
import { shellWords } from '../../src/core/settings/shell-words.ts';
import { type FakeClaude, makeFakeClaude } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { isHere } from '../helpers/machine-needs.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { gitIn } from '../helpers/repository.ts';
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
    2: 'not started: the command line is wrong, or this is not possible here',
    3: 'not finished in time, see Needs_Action',
    4: 'not finished in time, see Needs_Action',
    5: 'stuck, see Needs_Action',
    6: 'held, ralph resume continues',
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

describe('the units for systemd', () => {
  const hasAnalyze = isHere(
    'systemd-analyze',
    spawnSync('systemd-analyze', ['--version']).status === 0,
  );

  test
    .skipIf(!hasAnalyze)
    .for([['ralph-nightly.service', 'ralph-nightly.timer'], ['fleet/ralph-worker.service']])(
    '%s: systemd loads them',
    async (names) => {
      const folder = await tempFolder();
      const program = path.join(folder, 'ralph');
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
      const files = names.map((name) => path.join(folder, path.basename(name)));
      for (const [at, name] of names.entries()) {
        writeFileSync(files[at] ?? '', example(name).replace('/usr/local/bin/ralph', program));
      }
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
        env: { PATH: process.env.PATH },
        encoding: 'utf8',
      });
      // Other units of the machine may have something wrong with them.
      const ownWords = stderr.split('\n').filter((line) => line.includes('ralph'));
      expect({ status, ownWords }).toEqual({ status: 0, ownWords: [] });
    },
  );
});

describe('examples/github-actions.yml', () => {
  interface Step {
    readonly name?: string;
    readonly if?: string;
    readonly uses?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }
  const workflow = parse(example('github-actions.yml'));
  const { agent, 'pull-request': pullRequest } = workflow.jobs;
  const steps: readonly Step[] = agent.steps;
  const stepOf = (job: { readonly steps: readonly Step[] }, name: string): Step => {
    const step = job.steps.find((each) => each.name === name || each.uses?.startsWith(name));
    if (step === undefined) throw new Error(`there is no step ${name}`);
    return step;
  };
  const [check, work] = [stepOf(agent, 'Check the plan'), stepOf(agent, 'Run the task')];

  /** A runner gives each step to bash, which ends at the first command that fails. */
  function runStep({ shell }: Machine, step: Step, env: Readonly<Record<string, string>> = {}) {
    return shell(['/bin/bash', '-e', '-c', step.run ?? 'false'], {
      ...{ CI: 'true', GIT_CONFIG_NOSYSTEM: '1' },
      ...(step.env?.ANTHROPIC_API_KEY === undefined
        ? {}
        : { ANTHROPIC_API_KEY: 'sk-ant-loopback' }),
      ...env,
    });
  }

  /** A machine whose project is a checkout as a runner makes it, with the author set. */
  async function makeRunner() {
    const machine = await makeMachine();
    const { project, bin } = machine;
    const origin = path.join(project, '..', 'origin.git');
    const git = gitIn(project);
    writeFileSync(path.join(bin, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
    git('init', '-q');
    git('add', '--all');
    git('commit', '-qm', 'first');
    git('commit', '-q', '--allow-empty', '-m', 'second');
    git('clone', '-q', '--bare', '.', origin);
    /** What `actions/checkout` leaves: the newest commit alone, and no branch. */
    const checkOut = (): string => {
      rmSync(project, { recursive: true });
      gitIn(path.dirname(origin))('clone', '-q', '--depth=1', `file://${origin}`, project);
      git('checkout', '-q', '--detach');
      return git('rev-parse', 'HEAD');
    };
    const sha = checkOut();
    const named = runStep(machine, stepOf(agent, 'Say who commits'));
    expect(named).toMatchObject({ status: 0 });
    return { ...machine, origin, git, checkOut, sha };
  }

  test('installs this package, checks on a pull request and works at night', () => {
    const { name } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(steps.map(({ run }) => run).join('\n')).toContain(`npm install --global ${name} `);
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'schedule']);
    expect(check).toMatchObject({ run: expect.stringContaining('--dry-run') });
    expect(check.if).toBeUndefined();
    expect(work.if).toBe("github.event_name == 'schedule'");
    expect(Object.keys(work.env ?? {})).toEqual(['ANTHROPIC_API_KEY']);
    expect(workflow.concurrency).toMatchObject({ 'cancel-in-progress': false });
  });

  test('lets nothing write to the repository beside the agent', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(agent.permissions).toBeUndefined();
    expect(stepOf(agent, 'actions/checkout').with).toEqual({ 'persist-credentials': false });
    expect(pullRequest.permissions).toEqual({ contents: 'write', 'pull-requests': 'write' });
    expect(JSON.stringify(pullRequest.steps)).not.toContain('npm');
  });

  test('keeps the books of every night, hidden files too', () => {
    const books = stepOf(agent, 'actions/upload-artifact');
    expect(books.if).toBe("always() && github.event_name == 'schedule'");
    expect(books.with).toMatchObject({ 'include-hidden-files': true });
    const kept = String(books.with?.path).trim().split('\n');
    expect(kept).toEqual(['.ralph_state', 'Needs_Action', 'nightly.bundle']);
    const { name } = stepOf(pullRequest, 'actions/download-artifact').with ?? {};
    expect(name).toBe(books.with?.name);
  });

  test('checks the plan with no agent installed, and no key', async () => {
    const { status, stdout, stderr } = runStep(await makeRunner(), check);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('claude was not found in');
    expect(stdout).toContain('or 9 if each takes its full time');
  });

  test('does the work that it checked, and opens a pull request with it', async () => {
    const runner = await makeRunner();
    const { git, sha, bin, project, origin, checkOut } = runner;
    const done = { ...WORKED, shell: 'echo tidy > tidy.txt', text: 'All tidy.\n\nNIGHTLY DONE' };
    const claude = await runner.install(done);
    const { status, stdout } = runStep(runner, work);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'All tidy.\n\nNIGHTLY DONE\n' });
    expect(claude.calls()[0]).toMatchObject({
      argv: expect.arrayContaining(['--permission-mode=acceptEdits']),
      env: { ANTHROPIC_API_KEY: 'sk-ant-loopback' },
    });

    const told = path.join(path.dirname(project), 'told');
    const bundle = stepOf(agent, 'Bundle the commits');
    expect(bundle.if).toBe("always() && github.event_name == 'schedule'");
    const bundled = runStep(runner, bundle, { GITHUB_SHA: sha, GITHUB_OUTPUT: told });
    expect(bundled).toMatchObject({ status: 0 });
    expect(readFileSync(told, 'utf8')).toBe('has-work=true\n');

    const artifact = path.join(path.dirname(project), 'artifact');
    mkdirSync(artifact);
    copyFileSync(path.join(project, 'nightly.bundle'), path.join(artifact, 'nightly.bundle'));
    checkOut();
    writeFileSync(path.join(bin, 'gh'), `#!/bin/sh\necho "$@" > '${told}'\n`, { mode: 0o755 });
    const env = { RUNNER_TEMP: artifact, BRANCH: 'ralph/nightly-7-1', RESULT: 'success' };
    const opened = runStep(runner, stepOf(pullRequest, 'Open a pull request'), env);
    expect(opened).toMatchObject({ status: 0 });
    expect(readFileSync(told, 'utf8')).toContain('pr create --head ralph/nightly-7-1 ');
    git('fetch', '-q', origin, 'ralph/nightly-7-1');
    expect(git('show', 'FETCH_HEAD:tidy.txt')).toBe('tidy');
    expect(
      git('log', '-1', '--format=%an%n%(trailers:key=Ralph-Task,valueonly)', 'FETCH_HEAD'),
    ).toBe('github-actions[bot]\nnightly');
  });

  test('opens no pull request after a night without a commit', async () => {
    const runner = await makeRunner();
    const told = path.join(path.dirname(runner.project), 'told');
    const env = { GITHUB_SHA: runner.sha, GITHUB_OUTPUT: told };
    expect(runStep(runner, stepOf(agent, 'Bundle the commits'), env)).toMatchObject({ status: 0 });
    expect(existsSync(told)).toBe(false);
    expect(agent.outputs['has-work']).toContain(' steps.bundle.outputs.has-work ');
    expect(pullRequest.if).toBe("always() && needs.agent.outputs.has-work == 'true'");
  });

  test('is not held up by an outage: exit 75', async () => {
    const machine = await makeRunner();
    // By default a few quick tries come first, which is not what is shown here.
    writeFileSync(path.join(machine.project, 'ralph.config.yaml'), 'retries: 0\n');
    const outage = { isError: true, apiErrorStatus: 529, text: 'API Error: 529 Overloaded' };
    const claude = await machine.install(outage);
    const { status, stdout } = runStep(machine, work);
    expect({ status, stdout }).toEqual({ status: 75, stdout: '' });
    expect(claude.calls()).toHaveLength(1);
  });
});

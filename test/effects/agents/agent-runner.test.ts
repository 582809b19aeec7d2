import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SignFound } from '../../../src/core/agent/sign.ts';
import type { Activity } from '../../../src/core/machine/events.ts';
import type { AgentKind } from '../../../src/effects/agents/agent.ts';
import { createAgentRunner, type RunnerOptions } from '../../../src/effects/agents/agent-runner.ts';
import { commandAgent } from '../../../src/effects/agents/command-agent.ts';
import { claudeAgent } from '../../../src/effects/claude/claude-agent.ts';
import { listProcesses, readProcess } from '../../../src/effects/processes/process-table.ts';
import type { AgentRequest } from '../../../src/loop/ports.ts';
import { holdTime, newRunId, passTimeThrough, stopsByHand } from '../../helpers/agent-life.ts';
import { agentOptions, commandOptions } from '../../helpers/agent-options.ts';
import { makeFakeClaude } from '../../helpers/fake-claude.ts';
import type { Turn } from '../../helpers/fake-turn.ts';
import { NO_LIMITS } from '../../helpers/no-limits.ts';
import {
  endLater,
  fixture,
  isDead,
  startProgram,
  until,
  untilDead,
  untilReady,
} from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A runner in a folder of its own, and what it said. */
async function stage(kind: AgentKind, more: Partial<RunnerOptions> = {}) {
  const folder = await tempFolder();
  const runId = newRunId();
  const told: string[] = [];
  const warnings: string[] = [];
  const heard: string[] = [];
  const activities: Activity[] = [];
  const found: SignFound[] = [];
  const runner = createAgentRunner({
    kindOf: () => kind,
    notesAgents: false,
    cwd: folder,
    sandbox: null,
    env: { PATH: process.env.PATH },
    runId,
    taskId: 'T1',
    maxIterations: 7,
    stateFile: join(folder, 'state', 'T1.json'),
    logDir: join(folder, 'state', 'T1'),
    iterationTimeoutMs: 60_000,
    idleTimeoutMs: null,
    guardProgram: '/nowhere/guard-program.js',
    keepBackground: false,
    logLimitBytes: 1_000_000_000,
    onLeftovers: (what, processes) => {
      for (const { pid, command } of processes) {
        told.push(`${what} ${pid} ${command}`);
        endLater(pid);
      }
    },
    warn: (sentence) => warnings.push(sentence),
    ...more,
  });
  const stops = stopsByHand();
  let open = true;
  const close = async () => {
    open = false;
    await runner.close(stops.hurry);
    runner.dismissGuard();
  };
  onTestFinished(async () => {
    if (open) await close();
  });
  const run = (request: Partial<AgentRequest> = {}) =>
    runner.run({
      agent: 'command',
      prompt: Buffer.from('Do it.'),
      iteration: 1,
      attempt: 1,
      taskDeadlineAt: new Date(Date.now() + 600_000).toISOString(),
      resumeSession: null,
      budgetUsd: null,
      limits: NO_LIMITS,
      stops,
      listener: {
        activity: (activity) => activities.push(activity),
        retry() {},
        found: (sign) => found.push(sign),
        silentTool() {},
        text: (text) => heard.push(text),
      },
      ...request,
    });
  const log = (name: string) => readFileSync(join(folder, 'state', 'T1', name), 'utf8');
  return {
    folder,
    runId,
    runner,
    run,
    close,
    stops,
    told,
    warnings,
    heard,
    activities,
    found,
    log,
  };
}

/** A claude without any options. */
function plainClaude(env: NodeJS.ProcessEnv): AgentKind {
  return claudeAgent(agentOptions({}, { env }));
}

/** A shell command as the agent. */
function sh(script: string, ...args: readonly string[]): AgentKind {
  return commandAgent(commandOptions(['/bin/sh', '-c', script, 'agent', ...args]));
}

/** Starts a server that lives on, and says its pid. */
const SERVER = `setsid sh '${fixture('quiet-server.sh')}' "$RALPH_ITERATION" >/dev/null 2>&1 &
  until [ -s "$RALPH_ITERATION" ]; do :; done
  cat "$RALPH_ITERATION";`;
/** Leaves a server in the first iteration; later ones wait for whatever ends them. */
const ONE_SERVER = sh(`
  if [ "$RALPH_ITERATION" = 1 ]; then ${SERVER} exit 0; fi
  exec sh '${fixture('polite-agent.sh')}'`);

function pidsIn(words: readonly string[]): number[] {
  return words.flatMap((text) => [...text.matchAll(/server=(\d+)/g)].map(([, pid]) => Number(pid)));
}

describe('what the agent gets', () => {
  test("the caller's environment, less what would make it believe itself inside claude", async () => {
    const env = {
      PATH: process.env.PATH,
      MINE: 'kept',
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SSE_PORT: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      RALPH_RUN_ID: 'of the loop around this one',
      RALPH_ITERATION: '99',
      RALPH_VAULT: '/vault',
    };
    const { run, runId, folder } = await stage(sh('env'), { env });
    const { finalMessage } = await run({ iteration: 3 });
    const lines = (finalMessage ?? '').trim().split('\n');
    const seen = Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)));
    delete seen.PWD; // the shell's own
    delete seen.OLDPWD;
    expect(seen).toEqual({
      PATH: process.env.PATH,
      MINE: 'kept',
      CLAUDE_CODE_MAX_RETRIES: '1',
      RALPH_VAULT: '/vault',
      RALPH_TASK_ID: 'T1',
      RALPH_ITERATION: '3',
      RALPH_MAX_ITERATIONS: '7',
      RALPH_STATE_FILE: join(folder, 'state', 'T1.json'),
      RALPH_RUN_ID: runId,
    });
    expect(env.CLAUDECODE).toBe('1');
  });

  test('the prompt and its folder', async () => {
    const { run, folder } = await stage(sh('pwd; cat'));
    expect((await run({ prompt: Buffer.from('Tu was! ') })).finalMessage).toBe(
      `${folder}\nTu was! `,
    );
  });

  test('no more time than the task has left', async () => {
    holdTime();
    const { run } = await stage(sh('exec sleep 600'));
    const taskDeadlineAt = new Date(Date.now() + 500).toISOString();
    const facts = await passTimeThrough(run({ taskDeadlineAt }));
    expect(facts).toMatchObject({ end: { kind: 'cut', cause: 'task-timeout' } });
  });
});

describe('what is known of an attempt', () => {
  test('of a command', async () => {
    const { run, heard, activities } = await stage(sh('echo said; echo grumbled >&2; exit 3'));
    expect(await run()).toMatchObject({
      end: { kind: 'exited', exitCode: 3 },
      result: null,
      finalMessage: 'said\n',
      stderrTail: 'grumbled\n',
      leftovers: [],
    });
    expect(heard.join('')).toBe('said\n');
    expect(activities).toEqual([{ kind: 'text', text: 'said' }]);
  });

  async function stageClaude(turns: readonly Turn[]) {
    const bin = await tempFolder();
    await makeFakeClaude(bin, turns);
    const env = { PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}` };
    return stage(plainClaude(env), { env });
  }

  test('of claude', async () => {
    const { run, log } = await stageClaude([{ text: 'Done.', stderr: 'hm\n', costUsd: 0.5 }]);
    expect(await run()).toMatchObject({
      end: { kind: 'exited', exitCode: 0 },
      finalMessage: 'Done.',
      result: { subtype: 'success', isError: false },
      usage: { cost_usd: 0.5 },
      stderrTail: 'hm\n',
    });
    expect(log('iteration-0001.stdout.log')).toContain('"type":"result"');
  });

  test('of a claude that does not exit after its result', async () => {
    const { run } = await stageClaude([{ text: 'Done.', hangsAfterResult: true }]);
    holdTime();
    expect(await passTimeThrough(run())).toMatchObject({
      end: { kind: 'exited', exitCode: 0 },
      finalMessage: 'Done.',
      leftovers: [],
    });
  });

  test('of a claude that retries a refusal: it is cut at the second, in the midst of its wait', async () => {
    const apiRetries = [401, 401, 401].map((status) => ({ status, delayMs: 2 }));
    const { run } = await stageClaude([{ apiRetries, hangs: true }]);
    expect(await run()).toMatchObject({
      end: { kind: 'cut', cause: 'hopeless-retries' },
      result: null,
    });
  });

  test('of a claude that is interrupted: its report is read, the cause stays', async () => {
    const { run, stops, activities } = await stageClaude([
      { before: ['Working.'], hangs: true, reportsOnSigint: true, costUsd: 0.25 },
    ]);
    const end = run();
    await until(
      () => activities.length > 0,
      () => 'a sign of life',
    );
    stops.stop();
    expect(await end).toMatchObject({
      end: { kind: 'cut', cause: 'stop-requested', exitCode: 1 },
      usage: { cost_usd: 0.25 },
      partialOutput: 'Working.',
    });
  });

  test('of a program that is missing, where it was looked for; and it is looked for each time', async () => {
    const { run, folder, warnings } = await stage(commandAgent(commandOptions(['./agent'])));
    const file = join(folder, 'agent');
    expect(await run()).toEqual({
      end: { kind: 'not-started', code: 'ENOENT', message: expect.stringContaining(file) },
      durationMs: 0,
      retryWaitMs: 0,
      heldUpMs: 0,
      stderrTail: '',
      leftovers: [],
      result: null,
      finalMessage: null,
      partialOutput: '',
      retries: [],
      endedInRetry: false,
      rateLimit: null,
      usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
      turns: expect.any(Number),
      worked: false,
      tools: 0,
      refused: [],
      stoppedSubAgents: 0,
      sessionId: null,
      sessionUsage: null,
      skippedLines: 0,
      brokenLines: 0,
    });
    await writeFile(file, '#!/bin/sh\necho here\n', { mode: 0o755 });
    expect(await run()).toMatchObject({ end: { kind: 'exited', exitCode: 0 } });
    expect(warnings).toEqual([]);
  });
});

describe('the logs of an iteration', () => {
  test('hold all of its output, over all its attempts, for the owner alone', async () => {
    const { run, folder, log } = await stage(sh('echo "out $RALPH_ITERATION"; echo err >&2'));
    await run({ attempt: 1 });
    await run({ attempt: 2 });
    await run({ iteration: 2 });
    expect(log('iteration-0001.stdout.log')).toBe('out 1\nout 1\n');
    expect(log('iteration-0001.stderr.log')).toBe('err\nerr\n');
    expect(log('iteration-0002.stdout.log')).toBe('out 2\n');
    const logs = join(folder, 'state', 'T1');
    for (const name of readdirSync(logs))
      expect(statSync(join(logs, name)).mode & 0o777).toBe(0o600);
    expect(statSync(logs).mode & 0o777).toBe(0o700);
  });

  test('are done without where they cannot be written', async () => {
    const blocked = join(await tempFolder(), 'file');
    await writeFile(blocked, '');
    const { run } = await stage(sh('echo said'), { logDir: join(blocked, 'T1') });
    expect((await run()).finalMessage).toBe('said\n');
  });

  test('go on where their folder was deleted in between', async () => {
    const { run, folder, log } = await stage(sh('echo said'));
    await run();
    rmSync(join(folder, 'state'), { recursive: true });
    await run({ iteration: 2 });
    expect(log('iteration-0002.stdout.log')).toBe('said\n');
  });
});

describe('what an iteration leaves running', () => {
  test('is reported, left alone by the ending of the next one, and ended by name at the close', async () => {
    const { run, close, stops, told, heard } = await stage(ONE_SERVER);
    const first = await run();
    const [server = 0] = pidsIn(heard);
    const [left] = first.leftovers;
    expect(first.leftovers).toEqual([
      { pid: server, command: expect.stringContaining('quiet-server.sh 1') },
    ]);
    expect(told).toEqual([`left ${server} ${left?.command}`]);

    const second = run({ iteration: 2 });
    await until(
      () => heard.join('').includes('ready agent'),
      () => 'the second iteration',
    );
    stops.stop();
    expect(await second).toMatchObject({ end: { kind: 'cut' }, leftovers: [] });
    expect(isDead(server)).toBe(false);

    await close();
    expect(isDead(server)).toBe(true);
    expect(told).toEqual(['left', 'ended'].map((what) => `${what} ${server} ${left?.command}`));
  });

  test('is not reported again by an iteration that leaves nothing', async () => {
    const { run, told, heard } = await stage(
      sh(`if [ "$RALPH_ITERATION" = 1 ]; then ${SERVER} fi; exit 0`),
    );
    await run();
    expect((await run({ iteration: 2 })).leftovers).toEqual([]);
    expect(told).toHaveLength(1);
    expect(pidsIn(heard).map(isDead)).toEqual([false]);
  });

  test('of several iterations is ended together', async () => {
    const { run, close, told, heard } = await stage(sh(`${SERVER} exit 0`));
    await run();
    await run({ iteration: 2 });
    const servers = pidsIn(heard);
    expect(servers.map(isDead)).toEqual([false, false]);
    await close();
    expect(servers.map(isDead)).toEqual([true, true]);
    expect(told.slice(2)).toEqual(servers.map((pid) => expect.stringMatching(`^ended ${pid} `)));
  });

  test('is not named at the close if it has gone by itself', async () => {
    const { run, close, told, heard } = await stage(sh(`${SERVER} exit 0`));
    await run();
    for (const pid of pidsIn(heard)) {
      process.kill(pid, 'SIGKILL');
      await untilDead(pid);
    }
    await close();
    expect(told.filter((line) => line.startsWith('ended'))).toEqual([]);
  });

  test('lives on where the user wants to keep it', async () => {
    const { run, close, told, heard } = await stage(sh(`${SERVER} exit 0`), {
      keepBackground: true,
    });
    await run();
    await close();
    expect(pidsIn(heard).map(isDead)).toEqual([false]);
    expect(told.filter((line) => line.startsWith('ended'))).toEqual([]);
  });

  test('is killed at once at the close if there is a hurry, whatever it is deaf to', async () => {
    const { run, close, stops, heard } = await stage(
      sh(`setsid sh '${fixture('stubborn.sh')}' server & exit 0`),
    );
    holdTime();
    await passTimeThrough(run());
    const servers = pidsIn(heard);
    expect(servers.map(isDead)).toEqual([false]);
    const closed = close();
    stops.askAgain();
    // No time has passed: no step of the escalation can have come.
    await Promise.all(servers.map(untilDead));
    await passTimeThrough(closed);
  });

  test('takes nobody else along at the close', async () => {
    const { run, close } = await stage(sh(`${SERVER} exit 0`));
    const bystander = startProgram('/bin/sh', [fixture('stubborn.sh'), 'bystander']);
    await untilReady(bystander.stdout, 'bystander');
    await run();
    await close();
    expect(isDead(bystander.pid)).toBe(false);
  });
});

describe('the guard', () => {
  const guards = () =>
    listProcesses().filter(
      ({ pid, ppid }) =>
        ppid === process.pid && readProcess(pid)?.command.includes('ralph-guard') === true,
    );

  test('is one for the whole run, and goes with it', async () => {
    const { run, close } = await stage(sh('exit 0'));
    const before = guards().map(({ pid }) => pid);
    await run();
    await run({ iteration: 2 });
    const mine = guards().filter(({ pid }) => !before.includes(pid));
    expect(mine).toHaveLength(1);
    await close();
    await Promise.all(mine.map(({ pid }) => untilDead(pid)));
  });

  test('is missed, once, when it is gone', async () => {
    const { run, warnings } = await stage(sh('exit 0'));
    const before = guards().map(({ pid }) => pid);
    await run();
    for (const { pid } of guards().filter((one) => !before.includes(one.pid))) {
      process.kill(pid, 'SIGKILL');
      await untilDead(pid);
    }
    await until(
      () => warnings.length > 0,
      () => 'a warning',
    );
    await run({ iteration: 2 });
    expect(warnings).toEqual([expect.stringMatching(/no guard .*SIGKILL/)]);
  });

  test('is not needed for a run that is closed before it began', async () => {
    const { close, told, warnings } = await stage(sh('exit 0'));
    await close();
    expect([told, warnings]).toEqual([[], []]);
  });
});

describe('the guard is told', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ralph-runner-'));
    await build({
      absWorkingDir: root,
      entryPoints: ['test/fixtures/runner-driver.ts'],
      outfile: join(folder, 'driver.mjs'),
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
    });
    // In the place of the guard's program: it writes down what it was told to end.
    await writeFile(
      join(folder, 'told.cjs'),
      "require('node:fs').writeFileSync(__filename + '.tmp', process.argv.slice(2).join(' '));" +
        "require('node:fs').renameSync(__filename + '.tmp', __filename + '.txt');",
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function startDriver(script: string) {
    const place = await tempFolder();
    const file = join(place, 'agent.sh');
    await writeFile(file, script);
    await mkdir(join(place, 'T1'));
    const runId = newRunId();
    const program = join(folder, 'told.cjs');
    rmSync(`${program}.txt`, { force: true });
    const args = [join(folder, 'driver.mjs'), program, runId, join(place, 'T1'), file];
    const { stdout, stdin } = startProgram(process.execPath, args);
    return { runId, stdout, stdin, told: `${program}.txt` };
  }

  async function toldTo(file: string): Promise<string> {
    return until(
      () => {
        try {
          return readFileSync(file, 'utf8');
        } catch {
          return null;
        }
      },
      () => file,
    );
  }

  test('of the agent while it runs', async () => {
    const { runId, stdout, told } = await startDriver(
      `echo "ready driver=$PPID agent=$$"; exec sleep 600`,
    );
    const { driver, agent } = await untilReady(stdout, 'driver', 'agent');
    const names = [driver, agent].map((pid) => `${pid}:${readProcess(pid)?.startedAt}`);
    process.kill(driver, 'SIGKILL');
    expect(await toldTo(told)).toBe([runId, ...names].join(' '));
  });

  test('of what it has left, and no longer of the agent itself', async () => {
    const { runId, stdout, told } = await startDriver(`${SERVER} exit 0`);
    const { driver, server } = await untilReady(stdout, 'server', 'driver');
    const names = [driver, server].map((pid) => `${pid}:${readProcess(pid)?.startedAt}`);
    process.kill(driver, 'SIGKILL');
    expect(await toldTo(told)).toBe([runId, ...names].join(' '));
  });
});

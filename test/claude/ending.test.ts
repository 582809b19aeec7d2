import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { error, hang, many, type Reply, text, together, toolUse } from '../helpers/api-replies.ts';
import { untilPid } from '../helpers/background.ts';
import { CLAUDE_BIN_DIR } from '../helpers/install-claude.ts';
import { livingIn, untilNobodyIn } from '../helpers/living-in.ts';
import { isDead, until, untilDead } from '../helpers/processes.ts';
import { bash, makeRealScene, type RealScene, WITH_BASH } from '../helpers/real-scene.ts';
import { letEndingPass, letLimitPass, TOLD_CLOCK, TOLD_LIMIT } from '../helpers/told-clock.ts';

// The real `claude`, ended by ralph: nothing of it is left, whatever it was doing.

const PROMISED = 'All good.\n\nTASK_COMPLETE';
const CLAUDE = join(CLAUDE_BIN_DIR, 'claude');
/** A tool that goes on for long and ignores what it is told, as does what it started, in whichever shell `claude` finds. */
const LONG_TOOL = bash(
  "trap '' INT TERM HUP; sh -c 'echo $$ > child.pid; exec sleep 600' & echo $$ > tool.pid; wait",
);
const LONG_STEP: Reply = together(text('Testing.'), LONG_TOOL);

/** Waits until the long tool runs. */
async function untilTool({ folder }: RealScene): Promise<void> {
  await untilPid(join(folder, 'tool.pid'));
  await untilPid(join(folder, 'child.pid'));
}

/** Writes an executable program that stands before `claude`, and gives the flags that make it the agent. */
async function inFront(scene: RealScene, script: string): Promise<readonly string[]> {
  const shim = await scene.write('bin/shim', script);
  await chmod(shim, 0o700);
  return ['--claude-bin', shim];
}

const FRONTS: readonly (readonly [string, string | null])[] = [
  ['direct', null],
  ['behind a shell shim', `#!/bin/sh\n'${CLAUDE}' "$@"\nexit $?\n`],
  [
    'behind a shell shim that takes no notice of an interrupt',
    `#!/bin/sh\ntrap : INT\n'${CLAUDE}' "$@"\n`,
  ],
  [
    'behind a program such as npm’s wrapper',
    `#!/usr/bin/env node\nconst { spawnSync } = require('node:child_process');\nconst { status } = spawnSync('${CLAUDE}', process.argv.slice(2), { stdio: 'inherit' });\nprocess.exit(status ?? 1);\n`,
  ],
];

describe.for(FRONTS)('%s', ([, script]) => {
  const front = async (scene: RealScene) => (script === null ? [] : await inFront(scene, script));

  test('a Bash tool runs at the time-out: nothing is left, its cost and words are kept', async () => {
    const scene = await makeRealScene([LONG_STEP, text(PROMISED)]);
    const limit = ['--iteration-timeout', TOLD_LIMIT, '--delay', '0', '-n', '2'];
    const args = [...(await front(scene)), ...WITH_BASH, ...limit];
    const ralph = await scene.start(args, { env: TOLD_CLOCK });
    await untilTool(scene);
    letLimitPass(scene.folder);
    const { exitCode, stderr } = await ralph.ended;
    expect(stderr).toContain('timed out (iteration limit)');
    expect(exitCode).toBe(0);
    expect(livingIn(scene.home)).toEqual([]);
    const { iterations, usage } = scene.state();
    expect(iterations).toMatchObject([{ outcome: 'timed-out', tools: 1 }, { outcome: 'answered' }]);
    expect(iterations[0].cost_usd).toBeGreaterThan(0);
    expect(usage.cost_usd).toBeCloseTo(iterations[0].cost_usd + iterations[1].cost_usd, 6);
    const told = JSON.stringify(scene.api.mainCalls[1]?.body?.messages[0] ?? null);
    expect(told).toContain('Testing.');
    expect(told).toContain('[tool] Bash: trap');
  });

  test('ralph is terminated while a Bash tool runs: nothing is left, no further call', async () => {
    const scene = await makeRealScene([LONG_STEP]);
    const args = [...(await front(scene)), ...WITH_BASH];
    const ralph = await scene.start(args, { env: TOLD_CLOCK });
    await untilTool(scene);
    // Time for the agent to tell its cost.
    letEndingPass(scene.folder);
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143, signal: null });
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.api.mainCalls).toHaveLength(1);
    const state = scene.state();
    expect(state).toMatchObject({ status: 'stopped', exit_reason: 'stopped:SIGTERM' });
    expect(state.usage.cost_usd).toBeGreaterThan(0);
  });

  test('ralph is killed with SIGKILL while a Bash tool runs: nothing is left, no further call', async () => {
    const scene = await makeRealScene([LONG_STEP, text(PROMISED)]);
    const ralph = await scene.start([...(await front(scene)), ...WITH_BASH]);
    await untilTool(scene);
    process.kill(ralph.pid, 'SIGKILL');
    await untilNobodyIn(scene.home);
    expect(scene.api.mainCalls).toHaveLength(1);
  });

  // One interrupt in its first 0.7 s can be swallowed: here the moment is what is tested.
  test.for([350, 550, 750])(
    'ralph is terminated %i ms after its start: nothing is left',
    async (ms) => {
      const scene = await makeRealScene(() => LONG_STEP);
      const ralph = await scene.start([...(await front(scene)), ...WITH_BASH]);
      await passed(ms);
      process.kill(ralph.pid, 'SIGTERM');
      const { exitCode, signal } = await ralph.ended;
      // On a slow machine it may not have come to its own handling yet; to a shell both are 143.
      expect(exitCode ?? signal).toBeOneOf([143, 'SIGTERM']);
      expect(livingIn(scene.home)).toEqual([]);
    },
  );
});

test('SIGINT twice while a Bash tool runs: nothing is left', async () => {
  const scene = await makeRealScene([LONG_STEP]);
  const ralph = await scene.start(WITH_BASH);
  await untilTool(scene);
  process.kill(ralph.pid, 'SIGINT');
  process.kill(ralph.pid, 'SIGINT');
  expect(await ralph.ended).toMatchObject({ exitCode: 130 });
  expect(livingIn(scene.home)).toEqual([]);
});

describe('while it waits for its service', () => {
  /** A scene whose service never answers to the tool, and lets the limit pass then. */
  async function silentScene(): Promise<RealScene> {
    const scene: RealScene = await makeRealScene((_, index) => {
      if (index === 0) return bash('echo one');
      letLimitPass(scene.folder);
      return hang();
    });
    return scene;
  }

  test('a call that is never answered, at the time-out: timed out, though it exits 0', async () => {
    const scene = await silentScene();
    const args = [...WITH_BASH, '--iteration-timeout', TOLD_LIMIT, '-n', '1'];
    const { exitCode } = await scene.run(args, { env: TOLD_CLOCK });
    expect(exitCode).toBe(3);
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.state()).toMatchObject({
      iterations: [{ outcome: 'timed-out', completed: false, tools: 1 }],
    });
  });

  test('a call that is never answered, at the idle limit', async () => {
    const scene = await silentScene();
    const args = [...WITH_BASH, '--idle-timeout', TOLD_LIMIT, '-n', '1'];
    const { exitCode, stderr } = await scene.run(args, { env: TOLD_CLOCK });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('silent for too long');
    expect(livingIn(scene.home)).toEqual([]);
  });

  test('ralph is stopped in one of its own retries: stopped, though it exits 0', async () => {
    const scene = await makeRealScene(many(error(500, 'api_error', 'Internal server error'), 20));
    const ralph = await scene.start();
    await ralph.untilStderr(/the agent retries by itself after 500/);
    process.kill(ralph.pid, 'SIGHUP');
    expect(await ralph.ended).toMatchObject({ exitCode: 129 });
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.state()).toMatchObject({ status: 'stopped', iterations: [] });
  });
});

describe('what it leaves running', () => {
  test.for<[string, string]>([
    ['nohup', 'nohup sleep 600 > /dev/null 2>&1 & echo $! > server.pid'],
    ['setsid', 'setsid sleep 600 > /dev/null 2>&1 & echo $! > server.pid'],
    ['a double fork', '(sleep 600 > /dev/null 2>&1 & echo $! > server.pid) &'],
  ])('by %s: reported, alive in the next iteration, ended with the task', async ([, command]) => {
    const look = bash("grep -q '^State:.[RS]' /proc/$(cat server.pid)/status && echo alive > seen");
    const scene = await makeRealScene([bash(command), text('Started.'), look, text(PROMISED)]);
    const ralph = await scene.start([...WITH_BASH, '--delay', '0']);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    const { exitCode, stderr } = await ralph.ended;
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(new RegExp(`still running in the background: .*${pid} \\(sleep 600\\)`));
    expect(stderr).toMatch(
      new RegExp(`ended leftover background processes: .*${pid} \\(sleep 600\\)`),
    );
    await until(
      () => isDead(pid),
      () => 'its death',
    );
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.state().iterations).toHaveLength(2);
  });

  test('--keep-background: it lives on', async () => {
    const leave = 'nohup sleep 600 > /dev/null 2>&1 & echo $! > server.pid';
    const scene = await makeRealScene([bash(leave), text(PROMISED)]);
    const { exitCode } = await scene.run([...WITH_BASH, '--keep-background']);
    expect(exitCode).toBe(0);
    expect(isDead(await untilPid(join(scene.folder, 'server.pid')))).toBe(false);
  });

  const inBackground = (command: string) =>
    toolUse('Bash', { command, description: 'Later', run_in_background: true });

  // An interrupt, and a termination too, would make it tell the model of the task's end: one more call.
  test('a task in its own background that never ends: the result counts, no further call, nothing left', async () => {
    const scene = await makeRealScene([
      inBackground('echo $$ > task.pid; exec sleep 600'),
      text(PROMISED),
      text('The task was stopped.'),
    ]);
    const { exitCode, stdout } = await scene.run([...WITH_BASH, '-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    await untilDead(await untilPid(join(scene.folder, 'task.pid')));
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.api.mainCalls).toHaveLength(2);
  });

  /**
   * A scene whose background task ends a second after the answer which follows its start. With a clock that stands
   * still, ralph waits for that for as long as it takes.
   */
  async function withShortTask(...later: readonly Reply[]): Promise<RealScene> {
    const task = inBackground('until [ -e answered ]; do sleep 0.1; done; sleep 1');
    const replies = [task, text('Started it.'), ...later];
    const scene: RealScene = await makeRealScene(async (_, index) => {
      if (index === 1) await scene.write('answered', '');
      return replies[index] ?? error(400, 'invalid_request_error', 'No further reply.');
    });
    return scene;
  }

  test('a task in its own background that ends soon: what it says then is what counts', async () => {
    const scene = await withShortTask(text(PROMISED));
    const { exitCode, stdout } = await scene.run([...WITH_BASH, '-n', '1'], { env: TOLD_CLOCK });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.state().iterations).toHaveLength(1);
  });

  test('a task in its own background that gives it more to do: it may do that in silence', async () => {
    const scene = await withShortTask(bash('sleep 5; echo done > late'), text(PROMISED));
    const { exitCode, stdout } = await scene.run([...WITH_BASH, '-n', '1'], { env: TOLD_CLOCK });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.api.mainCalls).toHaveLength(4);
  });
});

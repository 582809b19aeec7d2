import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater } from '../helpers/living-in.ts';
import { playedAgent } from '../helpers/played-agent.ts';
import { fixture, until, untilDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const HOUR_S = 3_600;
const DONE = ['--promise', 'DONE', '--accept-empty', '--no-ask-back'];

/** A scene with a scripted claude and a codex that plays recordings, and the flags for both in that order. */
async function pair(turns: Turn | readonly Turn[], recordings: Parameters<typeof playedAgent>[2]) {
  const scene = await makeScene(turns);
  const codex = playedAgent(scene.folder, 'codex', recordings);
  const args = ['--agent', 'claude,codex', '--agent-bin', `codex=${codex.bin}`, ...DONE];
  return { scene, codex, args };
}

/** The attempts, and who was started for each. */
function started(scene: Scene): readonly string[] {
  return scene
    .journal()
    .filter(({ event }) => event === 'iteration_started')
    .map(({ agent, iteration, attempt }) => `${agent} ${iteration}.${attempt}`);
}

test('a plan limit hands the same iteration to the next agent at once, and all books name both', async () => {
  const { scene, args } = await pair(planLimited(HOUR_S), [{ file: 'promise' }]);
  const { exitCode, stdout, stderr } = await scene.run(args);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'All done.\n\n<promise>DONE</promise>\n',
  });
  expect(started(scene)).toEqual(['claude 1.1', 'codex 1.2']);
  expect(stderr).toMatch(
    /claude has reached its usage limit .*; codex continues, claude again after/,
  );
  const { agent, agents, iterations, errors, evidence, metrics } = scene.state();
  expect({ agent, by: evidence.agent, counted: metrics.iterations }).toEqual({
    agent: 'codex',
    by: 'codex',
    counted: 1,
  });
  expect(iterations).toMatchObject([{ number: 1, agent: 'codex' }]);
  expect(errors).toMatchObject([{ agent: 'claude', kind: 'usage-limited' }]);
  expect(agents.claude).toMatchObject({ why: 'usage-limit', held_until: expect.any(String) });
  expect(agents.codex.usage.output_tokens).toBeGreaterThan(0);
  const status = await scene.ralph(['status', 't']);
  expect(status.stdout.replace(/\s+/g, ' ')).toMatch(
    /agents claude –, usage limit until .*; codex – \(240 tokens\)/,
  );
  expect((await scene.ralph(['report'])).stdout).toContain('codex – (');
  await scene.ralph(['report', '--html', 'page.html']);
  expect(scene.read('page.html')).toMatch(/<th>Agent<\/th>.*<td>codex<\/td>.*–/s);
  // Each part of the log is read as its agent wrote it.
  const logs = await scene.ralph(['logs', 't']);
  expect(logs.stdout).toMatch(/session limit[\s\S]*All done\./);
  expect(logs.stdout).not.toContain('{"type"');
});

test('an ordinary failure changes no agent', async () => {
  const { scene, codex, args } = await pair(
    [
      { text: 'Broken.', exitCode: 1 },
      { text: 'Not yet.' },
      { text: 'All.\n\n<promise>DONE</promise>' },
    ],
    [{ file: 'promise' }],
  );
  expect((await scene.run(args)).exitCode).toBe(0);
  expect(started(scene)).toEqual(['claude 1.1', 'claude 2.1', 'claude 3.1']);
  expect(codex.calls()).toEqual([]);
});

test('the first agent works again from the iteration after its reset, in a new session', async () => {
  const { scene, args } = await pair(
    [planLimited(HOUR_S), { text: 'All.\n\n<promise>DONE</promise>' }],
    [{ file: 'early-promise-then-denial' }],
  );
  // After the iteration of the other one, the clock says that the reset is over.
  const after = ['--after', `echo ${2 * HOUR_S * 1_000} > ../bin/jump`];
  const { exitCode } = await scene.run([...args, '--session', 'continue', ...after], {
    env: { NODE_OPTIONS: `--require ${fixture('jumping-clock.cjs')}` },
  });
  expect(exitCode).toBe(0);
  expect(started(scene)).toEqual(['claude 1.1', 'codex 1.2', 'claude 2.1']);
  expect(scene.fake.calls()[1]?.argv.join(' ')).not.toContain('--resume');
  expect(scene.prompt(2)).toContain('Two tests still fail.');
});

test('if all are held the run ends with 75 and names the earliest reset, and so does a resume before it', async () => {
  const { scene, codex, args } = await pair(planLimited(HOUR_S), [
    { file: 'plan-limit', exitCode: 1 },
  ]);
  const { exitCode, stderr } = await scene.run([...args, '--max-wait', '0']);
  expect(exitCode).toBe(75);
  const { agents, exit_reason } = scene.state();
  expect(exit_reason).toBe('usage_limit');
  const [earliest = ''] = [agents.claude.held_until, agents.codex.held_until].sort();
  expect(stderr).toContain(`until ${earliest}`);
  expect(scene.notes()[0]?.text).toMatch(/claude: held until .*codex: held until/);
  const calls = [scene.fake.calls().length, codex.calls().length];
  expect((await scene.ralph(['resume', 't'])).exitCode).toBe(75);
  expect([scene.fake.calls().length, codex.calls().length]).toEqual(calls);
});

test('after kill -9 the iteration goes on with the agent that worked, and the held one is not asked', async () => {
  const { scene, codex } = await pair(
    [
      { text: 'Still at it.', costUsd: 2, hangsAfterResult: true },
      { text: 'All.\n\n<promise>DONE</promise>', costUsd: 1 },
    ],
    [{ file: 'plan-limit', exitCode: 1 }],
  );
  endAllInLater(scene.home);
  const agents = ['--agent', 'codex,claude', '--agent-bin', `codex=${codex.bin}`];
  const run = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't'];
  const ralph = await scene.start([...run, ...agents, ...DONE]);
  const log = '.ralph_state/t/iteration-0001.stdout.log';
  await until(
    () => scene.has(log) && scene.read(log).includes('"total_cost_usd":2'),
    () => `the cost of claude; ralph says ${ralph.stderr()}`,
  );
  process.kill(ralph.pid, 'SIGKILL');
  await untilDead(ralph.pid);
  expect((await scene.ralph(['resume', 't'])).exitCode).toBe(0);
  expect(started(scene)).toEqual(['codex 1.1', 'claude 1.2', 'claude 1.3']);
  expect(codex.calls()).toHaveLength(1);
  expect(scene.state()).toMatchObject({
    metrics: { iterations: 1 },
    errors: [{ agent: 'codex' }, { agent: 'claude', kind: 'interrupted' }],
    // What it told before the kill is read from the log as its own, and counted once.
    agents: { codex: { why: 'usage-limit' }, claude: { usage: { cost_usd: 3 } } },
  });
});

test('an agent that is not there is skipped, which is said once', async () => {
  const { scene, codex, args } = await pair({ text: 'not asked' }, [
    { file: 'early-promise-then-denial' },
    { file: 'promise' },
  ]);
  const missing = join(scene.folder, 'no-claude');
  const { exitCode, stderr } = await scene.run([...args, '--agent-bin', `claude=${missing}`]);
  expect(exitCode).toBe(0);
  expect(stderr.match(/claude is skipped for the rest of this run/g)).toHaveLength(1);
  expect(codex.calls()).toHaveLength(2);
});

test('if no agent can work, the first one decides how the task ends, and all are named', async () => {
  const { scene, args } = await pair({ text: 'not asked' }, [
    { file: 'unauthorized-401', exitCode: 1 },
  ]);
  const missing = join(scene.folder, 'no-claude');
  const { exitCode, stderr } = await scene.run([...args, '--agent-bin', `claude=${missing}`]);
  expect(exitCode).toBe(1);
  expect(scene.state().exit_reason).toBe('failed:agent-not-found');
  expect(stderr).toMatch(/claude: agent not found, .*codex: not logged in/);
  expect(stderr).toContain('@anthropic-ai/claude-code');
});

test('--dry-run shows how each agent is started', async () => {
  const { scene, codex, args } = await pair({ text: 'not asked' }, [{ file: 'promise' }]);
  const models = ['--model', 'claude=opus', '--model', 'codex=gpt'];
  const { stdout, exitCode } = await scene.run([...args, ...models, '--dry-run', '--json']);
  expect(exitCode).toBe(0);
  const { argv, further_agents } = JSON.parse(stdout);
  expect(argv.join(' ')).toContain('--model=opus');
  expect(further_agents).toMatchObject([{ agent: 'codex' }]);
  expect(further_agents[0].argv.join(' ')).toContain(`${codex.bin} exec`);
  expect(further_agents[0].argv.join(' ')).toContain('-m gpt');
});

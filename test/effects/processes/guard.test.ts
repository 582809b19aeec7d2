import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startGuard } from '../../../src/effects/processes/guard.ts';
import { readProcess } from '../../../src/effects/processes/process-table.ts';
import {
  endLater,
  fixture,
  isDead,
  startFixture,
  startProgram,
  stateOf,
  until,
  untilDead,
  untilLine,
  untilReady,
} from '../../helpers/processes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;
let programPath: string;
let driverPath: string;
let runs = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-guard-'));
  await build({
    absWorkingDir: root,
    entryPoints: ['src/effects/processes/guard-program.ts', 'test/fixtures/guarded-driver.ts'],
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
  programPath = join(folder, 'guard-program.mjs');
  driverPath = join(folder, 'guarded-driver.mjs');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whether a process has a handler of its own for a signal, or ignores it. */
function ignores(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return ['SigCgt', 'SigIgn'].some((field) => {
    const [, mask = '0'] = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status) ?? [];
    return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
  });
}

/** A driver that has started a guard, and an agent by one of the fixtures. */
async function startDriver(agentFixture: string, env: NodeJS.ProcessEnv = {}) {
  runs += 1;
  const runId = `guard-test-${process.pid}-${runs}`;
  const args = [driverPath, programPath, runId, '/bin/sh', fixture(agentFixture)];
  const child = startProgram(process.execPath, args, {
    env: { ...process.env, ...env },
    // One descriptor more than usual, as from a shell script that holds a lock on it.
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const ready = await untilReady(child.stdout, 'driver', 'guard', 'agent');
  const tell = (order: string) => child.stdin?.write(`${order}\n`);
  return { stdout: child.stdout, tell, ...ready };
}

const isLinux = process.platform === 'linux';
const A_MINUTE = { LEASE_MS: '60000' };
const KINDS = [
  ['of a run', {}],
  ['of a run with a lease', A_MINUTE],
] as const;

describe.skipIf(!isLinux).for(KINDS)('the guard %s', ([, lease]) => {
  test('ends agent and tool when the driver is killed, and goes itself', async () => {
    const { stdout, driver, guard, agent } = await startDriver('agent-with-tool.sh', lease);
    const { tool } = await untilReady(stdout, 'tool');
    process.kill(driver, 'SIGKILL');
    await Promise.all([agent, tool, guard].map(untilDead));
  });

  test('ends an orphan without an environment that only its notes know of', async () => {
    const { stdout, driver, agent, tell } = await startDriver('agent-with-plain-tool.sh', lease);
    const { tool } = await untilReady(stdout, 'tool');
    await untilLine(stdout, new RegExp(`^noted .*\\b${tool}\\b`, 'm'));
    tell('end the agent');
    await untilDead(agent);
    expect(isDead(tool)).toBe(false);
    process.kill(driver, 'SIGKILL');
    await untilDead(tool);
  });

  test('goes at a farewell and touches nobody', async () => {
    const { stdout, driver, guard, agent, tell } = await startDriver('agent-with-tool.sh', lease);
    const { tool } = await untilReady(stdout, 'tool');
    tell('farewell');
    await Promise.all([driver, guard].map(untilDead));
    expect([agent, tool].map(isDead)).toEqual([false, false]);
  });

  test('is deaf to the signals of a closing terminal', async () => {
    const { driver, guard, agent } = await startDriver('stubborn.sh', lease);
    // Node catches the other two from its start, to end by them.
    await until(
      () => ignores(guard, constants.signals.SIGHUP),
      () => 'the guard to take its signals',
    );
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(guard, signal);
    process.kill(driver, 'SIGKILL');
    await untilDead(agent);
    await untilDead(guard);
  });

  test('holds on to nothing of the driver but the pipe', async () => {
    const { driver, guard } = await startDriver('stubborn.sh', {
      ...lease,
      RALPH_RUN_ID: 'of-an-outer-loop',
    });
    const proc = `/proc/${guard}`;
    const linkOf = (pid: number, fd: string) => readlinkSync(`/proc/${pid}/fd/${fd}`);
    expect(['0', '1', '2'].map((fd) => linkOf(guard, fd))).toEqual([
      expect.stringMatching(/^(socket|pipe):/),
      '/dev/null',
      '/dev/null',
    ]);
    // Node lets the descriptors it inherits below 16 lapse; those above are not looked at here.
    const open = readdirSync(`${proc}/fd`).filter((fd) => Number(fd) < 16);
    const ofDriver = ['0', '1', '3'].map((fd) => linkOf(driver, fd));
    expect(ofDriver).toEqual(Array(3).fill(expect.stringMatching(/^(socket|pipe):/)));
    expect(open.map((fd) => linkOf(guard, fd))).not.toEqual(
      expect.arrayContaining([expect.toBeOneOf(ofDriver)]),
    );
    expect(readlinkSync(`${proc}/cwd`)).toBe('/');
    expect(readFileSync(`${proc}/environ`, 'utf8')).not.toContain('RALPH_');
    expect(readProcess(guard)).toMatchObject({ sessionId: guard, pgid: guard });
  });
});

describe.skipIf(!isLinux)('the guard of a run with a lease', () => {
  /** Beats until the driver is stopped or killed. */
  const BEATING = { LEASE_MS: '5000', BEAT_EVERY_MS: '100' };

  test('kills the agent of a stopped driver, and leaves the driver and itself alone', async () => {
    const { driver, guard, agent, stdout } = await startDriver('stubborn.sh', BEATING);
    await untilLine(stdout, new RegExp(`^noted .*\\b${agent}\\b`, 'm'));
    process.kill(driver, 'SIGSTOP');
    await untilDead(agent);
    expect(stateOf(driver)).toMatch(/^T/);
    expect(isDead(guard)).toBe(false);
  });

  test('kills what has left the tree, too', async () => {
    const run = await startDriver('agent-with-plain-tool.sh', BEATING);
    const { tool } = await untilReady(run.stdout, 'tool');
    await untilLine(run.stdout, new RegExp(`^noted .*\\b${tool}\\b`, 'm'));
    process.kill(run.driver, 'SIGSTOP');
    await Promise.all([run.agent, tool].map(untilDead));
  });

  /** A driver that has learnt too late that its lease is over. */
  async function late() {
    const run = await startDriver('stubborn.sh', A_MINUTE);
    run.tell('old beat');
    await untilDead(run.agent);
    return run;
  }

  test('kills what the driver starts once the time is up, whether it is noted or not', async () => {
    const { guard, stdout, tell } = await late();
    tell('start another');
    const { started } = await untilReady(stdout, 'started');
    await untilDead(started);
    tell('start it unseen');
    const { unseen } = await untilReady(stdout, 'unseen');
    await untilDead(unseen);
    expect(isDead(guard)).toBe(false);
  });

  // On a busy machine the guard may still be killing when the beat lies in its pipe; nothing tells when it has read it.
  test('leaves alone what is started after the next beat', { retry: 3 }, async () => {
    const { guard, stdout, tell } = await late();
    tell('beat');
    await untilLine(stdout, /^beat 1;$/m);
    tell('start another');
    const { started } = await untilReady(stdout, 'started');
    endLater(started);
    tell('farewell');
    await untilDead(guard);
    expect(isDead(started)).toBe(false);
  });

  test('leaves an agent alone while the beats come', async () => {
    const { guard, agent, stdout } = await startDriver('stubborn.sh', BEATING);
    // Together they take longer than the lease.
    await untilLine(stdout, /^beat 60;$/m);
    expect([agent, guard].map(isDead)).toEqual([false, false]);
  });

  test('goes by the age of a beat when it was sent, not by its arrival', async () => {
    const { guard, agent, tell } = await startDriver('stubborn.sh', A_MINUTE);
    tell('old beat');
    await untilDead(agent);
    expect(isDead(guard)).toBe(false);
  });

  test('does not end gently what a dead driver left, once the time is up', async () => {
    const brief = { LEASE_MS: '1500', BEAT_EVERY_MS: '50' };
    const { stdout, driver, agent, guard } = await startDriver('says-term.sh', brief);
    let said = '';
    stdout.on('data', (chunk: string) => {
      said += chunk;
    });
    const over = once(stdout, 'end');
    process.kill(driver, 'SIGKILL');
    await Promise.all([agent, guard].map(untilDead));
    await over;
    // Without the lease it would get this one 1.5 s after the end of its driver.
    expect(said).not.toContain('got TERM');
  });
});

describe.skipIf(!isLinux)('the guard', () => {
  test('leaves the agent of a stopped driver alone', async () => {
    const { stdout, driver, guard, agent, tell } = await startDriver('stubborn.sh');
    process.kill(driver, 'SIGSTOP');
    await until(
      () => stateOf(driver)?.startsWith('T'),
      () => 'the driver to stop',
    );
    expect(readProcess(guard)?.command).toMatch(/^\/bin\/sh /);
    process.kill(driver, 'SIGCONT');
    tell('are you there');
    await untilLine(stdout, /^here$/m);
    expect([agent, guard].map(isDead)).toEqual([false, false]);
  });

  test('does nothing when its pipe closes and the driver is alive', async () => {
    const { pid, stdout } = startFixture('stubborn.sh');
    await untilReady(stdout, 'agent');
    const name = (process: number) => `${process}:${readProcess(process)?.startedAt}`;
    const args = [programPath, 'nobody-carries-this', name(process.pid), name(pid)];
    const program = startProgram(process.execPath, args);
    await untilDead(program.pid);
    expect(program.exitCode ?? 0).toBe(0);
    expect(isDead(pid)).toBe(false);
  });

  test('is told whole sets, none twice, none endless and none empty', async () => {
    const out = join(folder, 'told');
    const shell = fixture('recording-shell.sh');
    const guard = startGuard({ runId: 'x', programPath: out, shell });
    endLater(guard.pid ?? 0);
    const many = Array.from({ length: 1000 }, (_, index) => ({ pid: index + 1, startedAt: '77' }));
    guard.note(many.slice(0, 2));
    guard.note(many.slice(0, 2));
    guard.note([]);
    guard.note(many);
    guard.farewell();
    guard.farewell();
    await untilDead(guard.pid ?? 0);
    const [two, bounded, bye, ...rest] = readFileSync(out, 'utf8').split('\n');
    expect([two, bye, rest]).toEqual(['note 1:77 2:77', 'bye', ['']]);
    expect(bounded?.split(' ')).toHaveLength(201);
  });

  test('says so where it cannot start, and the run goes on without it', async () => {
    const onProblem = vi.fn();
    const guard = startGuard({ runId: 'x', programPath, shell: '/nowhere/sh', onProblem });
    expect(guard.pid).toBeNull();
    guard.note([{ pid: 1, startedAt: '1' }]);
    guard.farewell();
    await vi.waitFor(() => expect(onProblem).toHaveBeenCalledOnce());
    expect(onProblem.mock.lastCall?.[0]).toContain('/nowhere/sh');
  });

  test('says so when it is lost', async () => {
    const onProblem = vi.fn();
    const guard = startGuard({ runId: 'x', programPath, onProblem });
    endLater(guard.pid ?? 0);
    process.kill(guard.pid ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(onProblem).toHaveBeenCalledWith('it ended (SIGKILL)'));
    guard.note([{ pid: 1, startedAt: '1' }]);
    guard.farewell();
  });

  test('says nothing when it was sent away', async () => {
    const onProblem = vi.fn();
    const guard = startGuard({ runId: 'x', programPath, onProblem });
    endLater(guard.pid ?? 0);
    guard.farewell();
    await untilDead(guard.pid ?? 0);
    await new Promise(setImmediate);
    expect(onProblem).not.toHaveBeenCalled();
  });
});

import { randomBytes } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CutCause } from '../../../src/core/agent/attempt.ts';
import { readProcess } from '../../../src/effects/processes/process-table.ts';
import {
  type AgentLife,
  type AgentLifeOptions,
  fixtureCommand,
  holdTime,
  newRunId,
  passTime,
  passTimeToTheEnd,
  shell,
  startAgent,
  startPuppet,
  stopsByHand,
} from '../../helpers/agent-life.ts';
import {
  fixture,
  isDead,
  startFixture,
  until,
  untilDead,
  untilLine,
  untilReady,
} from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const exited = (exitCode: number) => ({ kind: 'exited', exitCode });
const cut = (cause: CutCause, exitCode: number | null) => ({ kind: 'cut', cause, exitCode });

/** All that it wrote. */
function said({ chunks }: AgentLife): Buffer {
  return Buffer.concat(chunks);
}

describe('how an agent ends by itself', () => {
  test.for([0, 1, 7, 143, 255])('with exit code %i', async (code) => {
    const { report } = startAgent(shell(`exit ${code}`));
    expect(await report).toMatchObject({ end: exited(code), leftovers: [], retryWaitMs: 0 });
  });

  test.for(['TERM', 'KILL', 'INT', 'HUP'])('by a SIG%s that ralph did not send', async (name) => {
    const { report } = startAgent(shell(`kill -${name} $$`));
    expect((await report).end).toEqual({ kind: 'signalled', signal: `SIG${name}` });
  });

  test('lets go of the requests to stop', async () => {
    const { report, stops } = startAgent(shell('exit 0'));
    await report;
    const heard = [stops.signal, stops.hurry].map((signal) => getEventListeners(signal, 'abort'));
    expect(heard).toEqual([[], []]);
  });

  test('runs in the folder and the environment it was given, and no other', async () => {
    const cwd = await tempFolder();
    const env = { LANGUAGE: 'none' };
    const life = startAgent({ file: '/usr/bin/env', args: [] }, { cwd, env });
    await life.report;
    const names = said(life).toString().split('\n').filter(Boolean).sort();
    expect(names).toEqual(
      [`LANGUAGE=none`, `PATH=${process.env.PATH}`, `RALPH_RUN_ID=${life.runId}`].sort(),
    );
    const where = startAgent({ file: '/bin/pwd', args: [] }, { cwd });
    await where.report;
    expect(said(where).toString()).toBe(`${cwd}\n`);
  });

  test('leads its own process group', async () => {
    const puppet = await startPuppet();
    expect(readProcess(puppet.pid)).toMatchObject({ pgid: puppet.pid, sessionId: puppet.pid });
    await puppet.tell('exit 0');
    await puppet.report;
  });
});

describe('what is not started', () => {
  test('says so where nothing is', async () => {
    const { report } = startAgent({ file: '/nowhere/agent', args: [] });
    expect(await report).toMatchObject({
      end: { kind: 'not-started', code: 'ENOENT', message: expect.stringContaining('/nowhere') },
      leftovers: [],
      stderrTail: '',
    });
  });

  test('says so of a file that is not executable', async () => {
    const file = join(await tempFolder(), 'agent');
    await writeFile(file, '#!/bin/sh\nexit 0\n', { mode: 0o644 });
    const { report } = startAgent({ file, args: [] });
    expect((await report).end).toMatchObject({ kind: 'not-started', code: 'EACCES' });
  });

  test('says so of a folder', async () => {
    const { report } = startAgent({ file: await tempFolder(), args: [] });
    expect((await report).end).toMatchObject({ kind: 'not-started', code: 'EACCES' });
  });

  test('says so of a script whose interpreter is missing', async () => {
    const file = join(await tempFolder(), 'agent');
    await writeFile(file, '#!/nowhere/sh\nexit 0\n', { mode: 0o755 });
    const { report } = startAgent({ file, args: [] });
    expect((await report).end).toMatchObject({ kind: 'not-started', code: 'ENOEXEC' });
  });

  test('says so of arguments that are too long for the system', async () => {
    const { report } = startAgent({ file: '/bin/true', args: ['x'.repeat(200_000)] });
    expect((await report).end).toMatchObject({ kind: 'not-started', code: 'E2BIG' });
  });

  test('does not reject over arguments that no program can be given', async () => {
    const { report } = startAgent({ file: '/bin/true', args: ['a\0b'] });
    expect((await report).end).toMatchObject({ kind: 'not-started' });
  });

  test('does not take a working folder that is gone for an agent that is missing', async () => {
    const cwd = join(await tempFolder(), 'gone');
    const { end } = await startAgent(shell('exit 0'), { cwd }).report;
    expect(end).toMatchObject({ kind: 'not-started', message: expect.stringContaining(cwd) });
    // These two are read as "the agent was not found", and the remedy would name the agent.
    expect(end).not.toMatchObject({ code: expect.stringMatching(/^(ENOENT|EACCES)$/) });
  });

  test('but a text without an interpreter line is a shell script, as in any shell', async () => {
    const file = join(await tempFolder(), 'agent');
    await writeFile(file, 'exit 5\n');
    await chmod(file, 0o755);
    expect((await startAgent({ file, args: [] }).report).end).toEqual(exited(5));
  });
});

describe('the prompt', () => {
  test('arrives byte for byte, 1 MB of it, and its end is the end of standard input', async () => {
    const prompt = Buffer.concat([
      Buffer.from('\uFEFF/cost @/etc/passwd\r\n\0"$(true)`\u{1F600}'),
      Buffer.from([0xff, 0xfe, 0x80]),
      randomBytes(1024 * 1024 - 64),
    ]);
    const life = startAgent({ file: '/bin/cat', args: [] }, { prompt });
    expect((await life.report).end).toEqual(exited(0));
    expect(said(life).equals(prompt)).toBe(true);
  });

  test('may be nothing', async () => {
    const life = startAgent(shell('cat; echo end'), { prompt: '' });
    await life.report;
    expect(said(life).toString()).toBe('end\n');
  });

  test('need not be read by an agent that exits at once', async () => {
    const prompt = Buffer.alloc(1024 * 1024, 'x');
    const life = startAgent(shell('echo deaf; exit 3'), { prompt });
    expect((await life.report).end).toEqual(exited(3));
    expect(said(life).toString()).toBe('deaf\n');
  });

  test('need not be read by an agent that goes on', async () => {
    const puppet = await startPuppet({ prompt: Buffer.alloc(1024 * 1024, 'x') });
    await puppet.tell('echo still here; exit 4');
    expect((await puppet.report).end).toEqual(exited(4));
    expect(said(puppet).toString()).toContain('still here');
  });

  test('may be broken off in the middle', async () => {
    const script = 'head -c 10; exec 0<&-; echo " and enough"; exit 0';
    const life = startAgent(shell(script), { prompt: 'a'.repeat(1024 * 1024) });
    expect((await life.report).end).toEqual(exited(0));
    expect(said(life).toString()).toBe(`${'a'.repeat(10)} and enough\n`);
  });
});

describe('the output', () => {
  test('comes as it is cut, and is whole', async () => {
    const puppet = await startPuppet();
    const before = said(puppet).length;
    const parts = [String.raw`{"type":"\303`, String.raw`\251t`, String.raw`\303\251"}\n{`];
    for (const part of parts) {
      const seen = said(puppet).length;
      await puppet.tell(`printf '${part}'`);
      await until(
        () => said(puppet).length > seen,
        () => part,
      );
    }
    await puppet.tell('exit 0');
    await puppet.report;
    expect(said(puppet).subarray(before).toString()).toBe('{"type":"été"}\n{');
  });

  test('is read to its end when the agent exits right after it', async () => {
    const life = startAgent(shell('head -c 3000000 /dev/zero; echo end'));
    expect((await life.report).end).toEqual(exited(0));
    expect(said(life).length).toBe(3_000_004);
  });

  test('keeps the end of standard error, 16,000 bytes at most, and hands on all of it', async () => {
    const script = 'head -c 1000000 /dev/zero | tr "\\0" x >&2; echo "last words" >&2';
    const life = startAgent(shell(script));
    const { stderrTail } = await life.report;
    expect(stderrTail).toBe(`${'x'.repeat(16_000 - 11)}last words\n`);
    expect(Buffer.concat(life.stderrChunks).length).toBe(1_000_011);
  });

  test('keeps characters of standard error whole that come in two pieces', async () => {
    const puppet = await startPuppet();
    await puppet.tell(String.raw`printf 'Erreur d\303' >&2`);
    await until(
      () => puppet.stderrChunks.length > 0,
      () => 'the first half of a character',
    );
    await puppet.tell(String.raw`printf '\251finitive' >&2; exit 1`);
    expect((await puppet.report).stderrTail).toBe('Erreur définitive');
  });
});

describe('the limits', () => {
  const LIMITS: readonly [CutCause, AgentLifeOptions['limits'] & object][] = [
    ['iteration-timeout', { iterationMs: 10_000 }],
    ['idle-timeout', { idleMs: 10_000 }],
    ['task-timeout', { taskMs: 10_000 }],
  ];

  test.for(LIMITS)('%s: the agent is cut then and not before', async ([cause, limits]) => {
    holdTime();
    const life = startAgent(fixtureCommand('polite-agent.sh'), { limits });
    const { agent } = await untilReady(life.stdout, 'agent');
    await passTime(9_900);
    expect(isDead(agent)).toBe(false);
    await passTime(100);
    await untilDead(agent);
    const { end, leftovers } = await passTimeToTheEnd(life);
    // The exit code is the agent's own, the cause is ralph's.
    expect({ end, leftovers }).toEqual({ end: cut(cause, 1), leftovers: [] });
    expect(said(life).toString()).toMatch(/interrupted\n$/);
  });

  test.for(LIMITS)(
    '%s: nothing is left of an agent and a tool that ignore everything',
    async ([cause, limits]) => {
      holdTime();
      const life = startAgent(fixtureCommand('agent-with-tool.sh'), { limits });
      const { agent, tool } = await untilReady(life.stdout, 'agent', 'tool');
      await passTime(10_000);
      const { end, leftovers } = await passTimeToTheEnd(life);
      expect({ end, leftovers }).toEqual({ end: cut(cause, null), leftovers: [] });
      expect([agent, tool].map(isDead)).toEqual([true, true]);
    },
  );

  test('is silent only if neither of its outputs says anything', async () => {
    holdTime();
    const puppet = await startPuppet({ limits: { idleMs: 1_000 } });
    for (const sink of ['>&1', '>&2', '>&1']) {
      await passTime(900);
      const heard = puppet.chunks.length + puppet.stderrChunks.length;
      await puppet.tell(`echo here ${sink}`);
      await until(
        () => puppet.chunks.length + puppet.stderrChunks.length > heard,
        () => 'a sign of life',
      );
    }
    await passTime(900);
    expect(isDead(puppet.pid)).toBe(false);
    await passTime(100);
    expect((await passTimeToTheEnd(puppet)).end).toMatchObject({ cause: 'idle-timeout' });
  });

  test('stand still while the agent waits in its own retries', async () => {
    holdTime();
    const puppet = await startPuppet({ limits: { iterationMs: 2_000, idleMs: 1_000 } });
    puppet.signs().retrying(4_000);
    await passTime(4_000);
    puppet.signs().working();
    await passTime(900);
    expect(isDead(puppet.pid)).toBe(false);
    await puppet.tell('exit 0');
    const { end, retryWaitMs } = await puppet.report;
    expect({ end, retryWaitMs }).toEqual({ end: exited(0), retryWaitMs: 4_000 });
  });

  test('run again when a retry is not followed by anything for five minutes', async () => {
    holdTime();
    const puppet = await startPuppet({ limits: { iterationMs: 2_000 } });
    puppet.signs().retrying(null);
    await passTime(5 * 60_000 + 1_900);
    expect(isDead(puppet.pid)).toBe(false);
    await passTime(100);
    expect((await passTimeToTheEnd(puppet)).end).toMatchObject({ cause: 'iteration-timeout' });
  });

  test('the first cause stays the cause, whatever follows', async () => {
    holdTime();
    const limits = { iterationMs: 1_000, idleMs: 1_500, taskMs: 1_600 };
    const life = startAgent(fixtureCommand('stubborn.sh'), { limits });
    await untilReady(life.stdout, 'agent');
    await passTime(1_000);
    life.stops.stop();
    life.signs().hopeless('hopeless-retries');
    life.signs().resultGiven();
    await passTime(1_000);
    expect((await passTimeToTheEnd(life)).end).toEqual(cut('iteration-timeout', null));
  });

  test('an agent whose retries are hopeless is cut at once', async () => {
    const life = startAgent(fixtureCommand('polite-agent.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.signs().hopeless('hopeless-retries');
    expect((await life.report).end).toEqual(cut('hopeless-retries', 1));
    expect(isDead(agent)).toBe(true);
  });

  test('do not cut an agent that has exited, while its server holds the pipe', async () => {
    holdTime();
    const puppet = await startPuppet({ limits: { iterationMs: 10_000 } });
    await puppet.tell(`setsid sh '${fixture('stubborn.sh')}' server 3<&- &`);
    const { server } = await untilReady(puppet.stdout, 'server');
    await passTime(9_500);
    await puppet.tell('exit 0');
    await untilDead(puppet.pid);
    const { end, leftovers } = await passTimeToTheEnd(puppet);
    expect(end).toEqual(exited(0));
    expect(leftovers.map(({ pid }) => pid)).toEqual([server]);
    expect(isDead(server)).toBe(false);
  });
});

describe('a request to stop', () => {
  test('before the start: nothing is started any more', async () => {
    const stops = stopsByHand();
    stops.stop();
    const life = startAgent(shell('exit 0'), { stops });
    expect((await life.report).end).toEqual(cut('stop-requested', null));
    expect(life.noted).toEqual([]);
  });

  test('in the very moment of the start: nothing is left', async () => {
    holdTime();
    const stops = stopsByHand();
    const life = startAgent(fixtureCommand('stubborn.sh'), { stops, onStart: () => stops.stop() });
    const { end, leftovers } = await passTimeToTheEnd(life);
    expect(end).toMatchObject({ kind: 'cut', cause: 'stop-requested' });
    expect(leftovers).toEqual([]);
    expect(life.noted[0]?.map(({ pid }) => isDead(pid))).toEqual([true]);
  });

  test("while it runs: the agent's last words are still read", async () => {
    holdTime();
    const life = startAgent(fixtureCommand('wordy-agent.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.stops.stop();
    await untilDead(agent);
    expect((await passTimeToTheEnd(life)).end).toEqual(cut('stop-requested', 1));
    expect(said(life).length).toBeGreaterThan(2_000_000);
    expect(said(life).subarray(-11).toString()).toBe('last words\n');
  });

  test('reaches the agent behind a shell that stands in front of it', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('wrapper.sh'));
    const { wrapper, agent } = await untilReady(life.stdout, 'wrapper', 'agent');
    life.stops.stop();
    await Promise.all([wrapper, agent].map(untilDead));
    expect((await passTimeToTheEnd(life)).end).toMatchObject(cut('stop-requested', 1));
    expect(said(life).toString()).toMatch(/^interrupted$/m);
  });

  test('hears the agent out whose wrapper died of the interrupt at once', async () => {
    const life = startAgent({ file: process.execPath, args: [fixture('mortal-wrapper.cjs')] });
    const { wrapper, agent } = await untilReady(life.stdout, 'wrapper', 'agent');
    life.stops.stop();
    expect((await life.report).end).toMatchObject({ kind: 'cut', cause: 'stop-requested' });
    expect(said(life).toString()).toMatch(/^outlived the wrapper$/m);
    expect([wrapper, agent].map(isDead)).toEqual([true, true]);
  });

  test('leaves nothing of a daemon without an environment either', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('agent-with-daemon.sh'));
    const { agent, tool, orphan } = await untilReady(life.stdout, 'agent', 'tool', 'orphan');
    life.stops.stop();
    const { end, leftovers } = await passTimeToTheEnd(life);
    expect({ end, leftovers }).toEqual({ end: cut('stop-requested', null), leftovers: [] });
    expect([agent, tool, orphan].map(isDead)).toEqual([true, true, true]);
  });

  test('spares what belongs to earlier iterations, and what that starts meanwhile', async () => {
    const runId = newRunId();
    const env = { ...process.env, RALPH_RUN_ID: runId };
    const { pid, stdout } = startFixture('dev-server.sh', [], { env });
    await untilReady(stdout, 'server');
    const earlier = readProcess(pid);
    const exempt = () => (earlier === null ? [] : [earlier]);
    const life = startAgent(fixtureCommand('polite-agent.sh'), { runId, exempt });
    const { agent } = await untilReady(life.stdout, 'agent');
    process.kill(pid, 'SIGUSR1');
    const { worker } = await untilReady(stdout, 'worker');
    life.stops.stop();
    await life.report;
    expect([pid, worker, agent].map(isDead)).toEqual([false, false, true]);
  });

  test('after the result: the result is kept, nothing is left', async () => {
    const life = startAgent(fixtureCommand('polite-agent.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.signs().resultGiven();
    life.stops.stop();
    expect(await life.report).toMatchObject({ end: exited(0), leftovers: [] });
    expect(isDead(agent)).toBe(true);
  });

  test('a second time: everything is killed without another moment', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('agent-with-tool.sh'));
    const { agent, tool } = await untilReady(life.stdout, 'agent', 'tool');
    life.stops.stop();
    life.stops.askAgain();
    // No time has passed: no step of the escalation can have come.
    await Promise.all([agent, tool].map(untilDead));
    expect((await passTimeToTheEnd(life)).end).toEqual(cut('stop-requested', null));
  });

  test('a second time, during the ending for another cause', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('stubborn.sh'), { limits: { iterationMs: 1_000 } });
    const { agent } = await untilReady(life.stdout, 'agent');
    await passTime(1_000);
    life.stops.stop();
    expect(isDead(agent)).toBe(false);
    life.stops.askAgain();
    await untilDead(agent);
    expect((await passTimeToTheEnd(life)).end).toEqual(cut('iteration-timeout', null));
  });

  test('after the result, to an agent that is deaf', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('stubborn.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.signs().resultGiven();
    life.stops.stop();
    life.stops.askAgain();
    await untilDead(agent);
    expect((await passTimeToTheEnd(life)).end).toEqual(exited(0));
  });
});

describe('after the result', () => {
  test('an agent that stays is ended when its grace is over, its result kept', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('polite-agent.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.signs().resultGiven();
    await passTime(1_900);
    expect(isDead(agent)).toBe(false);
    await passTime(100);
    await untilDead(agent);
    expect(await passTimeToTheEnd(life)).toMatchObject({ end: exited(0), leftovers: [] });
  });

  test('an agent that is deaf goes, too', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('stubborn.sh'));
    const { agent } = await untilReady(life.stdout, 'agent');
    life.signs().resultGiven();
    expect((await passTimeToTheEnd(life)).end).toEqual(exited(0));
    expect(isDead(agent)).toBe(true);
  });

  test('a limit that passes during the grace does not undo the result', async () => {
    holdTime();
    const life = startAgent(fixtureCommand('polite-agent.sh'), { limits: { iterationMs: 1_000 } });
    await untilReady(life.stdout, 'agent');
    life.signs().resultGiven();
    expect((await passTimeToTheEnd(life)).end).toEqual(exited(0));
  });

  test('one that exits in time keeps its own exit code', async () => {
    const puppet = await startPuppet();
    puppet.signs().resultGiven();
    await puppet.tell('exit 1');
    expect((await puppet.report).end).toEqual(exited(1));
  });

  test('one that works again, woken in the background, has time until its next result', async () => {
    holdTime();
    const puppet = await startPuppet();
    puppet.signs().resultGiven();
    await passTime(1_900);
    puppet.signs().working();
    await passTime(60_000);
    expect(isDead(puppet.pid)).toBe(false);
    puppet.signs().resultGiven();
    await passTime(1_900);
    expect(isDead(puppet.pid)).toBe(false);
    await passTime(100);
    await untilDead(puppet.pid);
    expect((await passTimeToTheEnd(puppet)).end).toEqual(exited(0));
  });

  test('one that works again and comes to no further result is cut by its limit', async () => {
    holdTime();
    const puppet = await startPuppet({ limits: { idleMs: 10_000 } });
    puppet.signs().resultGiven();
    puppet.signs().working();
    expect((await passTimeToTheEnd(puppet)).end).toMatchObject({ cause: 'idle-timeout' });
  });

  test('what is said while it is put away stands in the log and counts no more', async () => {
    holdTime();
    const pipe = join(await tempFolder(), 'late');
    const puppet = await startPuppet();
    await puppet.tell(`mkfifo '${pipe}'`);
    await puppet.tell(`setsid sh -c 'echo ok; read -r w < "${pipe}"; echo "$w"' 3<&- &`);
    await untilLine(puppet.stdout, /^ok$/m);
    puppet.signs().resultGiven();
    await passTime(2_000);
    await untilDead(puppet.pid);
    await appendFile(pipe, 'late words\n');
    await untilLine(puppet.stdout, /^late words$/m);
    await passTimeToTheEnd(puppet);
    expect(Buffer.concat(puppet.heard).toString()).toMatch(/^ok$/m);
    expect(Buffer.concat(puppet.heard).toString()).not.toContain('late words');
  });

  test('its tools in sessions of their own are left alone, and reported', async () => {
    holdTime();
    const puppet = await startPuppet();
    await puppet.tell(`setsid sh '${fixture('stubborn.sh')}' server 3<&- &`);
    const { server } = await untilReady(puppet.stdout, 'server');
    puppet.signs().resultGiven();
    const { end, leftovers } = await passTimeToTheEnd(puppet);
    expect(end).toEqual(exited(0));
    expect(leftovers.map(({ pid }) => pid)).toEqual([server]);
    expect([puppet.pid, server].map(isDead)).toEqual([true, false]);
  });

  test('the grace ends nothing once the agent has exited: exit code and server stay', async () => {
    holdTime();
    const puppet = await startPuppet();
    await puppet.tell(`sh '${fixture('stubborn.sh')}' server 3<&- &`);
    const { server } = await untilReady(puppet.stdout, 'server');
    puppet.signs().resultGiven();
    await passTime(100);
    await puppet.tell('exit 1');
    await untilDead(puppet.pid);
    const { end, leftovers } = await passTimeToTheEnd(puppet);
    expect(end).toEqual(exited(1));
    expect(leftovers.map(({ pid }) => pid)).toEqual([server]);
    expect(isDead(server)).toBe(false);
  });
});

describe('what it leaves running', () => {
  test('holds the report up for its grace and no longer if it holds the pipe', async () => {
    holdTime();
    const puppet = await startPuppet();
    await puppet.tell(`setsid sh '${fixture('stubborn.sh')}' server 3<&- &`);
    const { server } = await untilReady(puppet.stdout, 'server');
    await until(
      () => readFileSync(`/proc/${server}/cmdline`, 'utf8').startsWith('sleep'),
      () => 'the server to sleep',
    );
    await puppet.tell('exit 0');
    await untilDead(puppet.pid);
    await passTime(1_900);
    expect(puppet.isOver()).toBe(false);
    const { end, leftovers } = await passTimeToTheEnd(puppet);
    expect(end).toEqual(exited(0));
    expect(leftovers).toEqual([
      { pid: server, startedAt: readProcess(server)?.startedAt, command: 'sleep 600' },
    ]);
    expect(isDead(server)).toBe(false);
  });

  test('does not hold it up at all if it has let go of the pipe', async () => {
    holdTime();
    const puppet = await startPuppet();
    const out = join(await tempFolder(), 'out');
    await puppet.tell(`setsid sh '${fixture('quiet-server.sh')}' '${out}' >/dev/null 2>&1 3<&- &`);
    await puppet.tell(`until [ -s '${out}' ]; do :; done; cat '${out}'; exit 0`);
    const { server } = await untilReady(puppet.stdout, 'server');
    // Time stands still: whatever waited for some would wait for ever.
    const { leftovers } = await puppet.report;
    expect(leftovers.map(({ pid }) => pid)).toEqual([server]);
    expect(isDead(server)).toBe(false);
  });

  test('is still heard during the grace', async () => {
    holdTime();
    const folder = await tempFolder();
    const puppet = await startPuppet();
    const pipe = join(folder, 'late');
    await puppet.tell(
      `mkfifo '${pipe}'; (read -r word < '${pipe}'; echo "$word") 3<&- & echo made`,
    );
    await untilLine(puppet.stdout, /^made$/m);
    await puppet.tell('exit 0');
    await untilDead(puppet.pid);
    await appendFile(pipe, 'late words\n');
    expect((await puppet.report).end).toEqual(exited(0));
    expect(said(puppet).toString()).toMatch(/^late words$/m);
  });

  test('is nothing where it had to be ended', async () => {
    const puppet = await startPuppet();
    await puppet.tell(`setsid sh '${fixture('dev-server.sh')}' 3<&- &`);
    const { server } = await untilReady(puppet.stdout, 'server');
    puppet.stops.stop();
    expect((await puppet.report).leftovers).toEqual([]);
    expect([puppet.pid, server].map(isDead)).toEqual([true, true]);
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  runShellCommand,
  type ShellOptions,
} from '../../../src/effects/processes/shell-command.ts';
import { holdTime, newRunId, passTimeThrough, stopsByHand } from '../../helpers/agent-life.ts';
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

const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 16 * 1024;
const MB = 1024 * 1024;

async function stage(more: Partial<ShellOptions> = {}) {
  const cwd = await tempFolder();
  const stops = stopsByHand();
  const runId = newRunId();
  const options = {
    cwd,
    env: { PATH: process.env.PATH, RALPH_RUN_ID: runId },
    timeoutMs: 3_600_000,
    stops,
    ...more,
  };
  const run = (command: string, input = '') => runShellCommand(command, input, options);
  /** The pid that a command has written to a file; it is ended with the test. */
  const pidIn = (name: string) =>
    until(
      () => {
        const pid = Number(/(\d+)\n/.exec(read(join(cwd, name)))?.[1]);
        if (!pid) return null;
        endLater(pid);
        return pid;
      },
      () => `a pid in ${name}`,
    );
  return { cwd, stops, runId, run, pidIn };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('a command', () => {
  test('is run by /bin/sh in the folder and the environment given, and no other', async () => {
    process.env.OF_THE_TEST = 'x';
    onTestFinished(() => {
      delete process.env.OF_THE_TEST;
    });
    const { cwd, run, runId } = await stage();
    const command = 'pwd; echo "$0 $RALPH_RUN_ID [$OF_THE_TEST]" | cat && (exit 0)';
    expect(await run(command)).toEqual({
      command,
      exitCode: 0,
      timedOut: false,
      output: `${cwd}\n/bin/sh ${runId} []\n`,
    });
  });

  test('has the text on its standard input, closed after it', async () => {
    const { run } = await stage();
    const input = '{"event":"ü"}\n';
    expect((await run('cat; echo end', input)).output).toBe(`${input}end\n`);
    expect((await run('cat; echo end')).output).toBe('end\n');
  });

  test('need not read it', async () => {
    const { run } = await stage();
    expect(await run('exec <&-; echo said', 'x'.repeat(MB))).toMatchObject({
      exitCode: 0,
      output: 'said\n',
    });
  });

  test.for([0, 1, 3, 127, 255])('ends with its own exit code: %i', async (exitCode) => {
    const { run } = await stage();
    expect(await run(`exit ${exitCode}`)).toMatchObject({ exitCode, timedOut: false });
  });

  test('that is not found exits 127 and says so', async () => {
    const { run } = await stage();
    expect(await run('no-such-command-anywhere')).toMatchObject({
      exitCode: 127,
      timedOut: false,
      output: expect.stringContaining('no-such-command-anywhere'),
    });
  });

  test('that is no shell command at all fails, and says so', async () => {
    const { run } = await stage();
    const result = await run('if then (');
    expect(result.exitCode).toBeGreaterThan(0);
    expect(result.output).toMatch(/syntax error/i);
  });

  test('that was killed by another hand has no exit code, and did not run out of time', async () => {
    const { run } = await stage();
    expect(await run('echo said; kill -KILL $$')).toMatchObject({
      exitCode: null,
      timedOut: false,
      output: 'said\n',
    });
  });

  test.for<[string, string, Partial<ShellOptions>]>([
    ['where its folder is gone', 'true', { cwd: '/nowhere/at/all' }],
    ['with a NUL in it', 'echo a\0b', {}],
  ])('that cannot be started says why: %s', async ([, command, more]) => {
    const { run } = await stage(more);
    const result = await run(command);
    expect(result).toMatchObject({ command, exitCode: null, timedOut: false });
    expect(result.output).not.toBe('');
  });

  test('leads its own process group', async () => {
    const { run } = await stage();
    const { output } = await run('echo "$$ $(ps -o pgid= -p $$)"');
    const [pid, group] = output.trim().split(/\s+/);
    expect(pid).toMatch(/^\d+$/);
    expect(group).toBe(pid);
  });
});

describe('its output', () => {
  test('is that of both streams', async () => {
    const { run } = await stage();
    const { output } = await run('echo out; echo err >&2');
    expect(output.trim().split('\n').sort()).toEqual(['err', 'out']);
  });

  test('keeps both its ends within bounds, and whole characters where they were cut', async () => {
    const { run } = await stage();
    const { output } = await run(
      `i=0; while [ $i -lt 6000 ]; do printf ürx; i=$((i+1)); done; head -c ${MB} /dev/zero | tr '\\0' x; i=0; while [ $i -lt 6000 ]; do printf ürx; i=$((i+1)); done; echo last`,
    );
    const [, head = '', left = '', tail = ''] =
      /^(.*)\n\[(\d+) bytes are left out\]\n(.*\n)$/.exec(output) ?? [];
    expect(head).toMatch(/^(?:ürx)+(?:ü|ür)?$/);
    expect(tail).toMatch(/^(?:x|rx|ürx)(?:ürx)+last\n$/);
    for (const [end, bytes] of [
      [head, HEAD_BYTES],
      [tail, TAIL_BYTES],
    ] as const) {
      expect(Buffer.byteLength(end)).toBeLessThanOrEqual(bytes);
      expect(Buffer.byteLength(end)).toBeGreaterThan(bytes - 4);
    }
    const all = 2 * 6_000 * 4 + MB + 'last\n'.length;
    const shown = Buffer.byteLength(head) + Buffer.byteLength(tail);
    expect(Math.abs(all - shown - Number(left))).toBeLessThan(4);
  });

  test('is whole if both ends have room for it', async () => {
    const { run } = await stage();
    const { output } = await run(`i=0; while [ $i -lt 5000 ]; do printf ürx; i=$((i+1)); done`);
    expect(output).toBe('ürx'.repeat(5_000));
  });

  test('is passed on by stream, all its bytes and all its text', async () => {
    const heard = { stdout: { bytes: 0, text: '' }, stderr: { bytes: 0, text: '' } };
    const { run } = await stage({
      onOutput(chunk, text, stream) {
        heard[stream].bytes += chunk.length;
        heard[stream].text += text;
      },
    });
    await run(`i=0; while [ $i -lt 30000 ]; do printf ürx; i=$((i+1)); done; echo c >&2`);
    expect(heard).toEqual({
      stdout: { bytes: 120_000, text: 'ürx'.repeat(30_000) },
      stderr: { bytes: 2, text: 'c\n' },
    });
  });

  test('takes flat memory however much it is, NUL bytes included', async () => {
    const { run } = await stage();
    const before = process.memoryUsage.rss();
    const { exitCode, output } = await run('head -c 200000000 /dev/zero; echo last');
    expect(exitCode).toBe(0);
    expect(output).toMatch(/^\0+\n\[\d+ bytes are left out\]\n\0+last\n$/);
    expect(output.length).toBeLessThan(HEAD_BYTES + TAIL_BYTES + 50);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MB);
  });

  test('of one stream does not end a character that the other began', async () => {
    const { run } = await stage();
    expect((await run("printf '\\303'; printf '\\274' >&2")).output).not.toContain('ü');
  });
});

describe('a time limit', () => {
  test('ends the whole tree, what has a session of its own included, and is told', async () => {
    holdTime();
    const { run, pidIn } = await stage({ timeoutMs: 5_000 });
    const result = run(
      `echo begun; setsid sh '${fixture('stubborn.sh')}' tool > tool & sh '${fixture('stubborn.sh')}' > agent`,
    );
    const pids = await Promise.all([pidIn('tool'), pidIn('agent')]);
    expect(await passTimeThrough(result)).toMatchObject({
      exitCode: null,
      timedOut: true,
      output: 'begun\n',
    });
    expect(pids.map(isDead)).toEqual([true, true]);
  });

  test('does not count against a command that ends in time', async () => {
    const { run } = await stage({ timeoutMs: 60_000 });
    expect(await run('exit 1')).toMatchObject({ exitCode: 1, timedOut: false });
  });
});

describe('a request to stop', () => {
  test('ends it, its tools included, and is no time-out', async () => {
    holdTime();
    const { run, stops, pidIn } = await stage();
    const result = run(
      `setsid sh '${fixture('stubborn.sh')}' tool > tool & sh '${fixture('stubborn.sh')}' > agent`,
    );
    const pids = await Promise.all([pidIn('tool'), pidIn('agent')]);
    stops.stop();
    expect(await passTimeThrough(result)).toMatchObject({ exitCode: null, timedOut: false });
    expect(pids.map(isDead)).toEqual([true, true]);
  });

  test('that came before keeps it from starting', async () => {
    const { run, stops, cwd } = await stage();
    stops.stop();
    expect(await run('echo > begun')).toMatchObject({ exitCode: null, timedOut: false });
    expect(read(join(cwd, 'begun'))).toBe('');
  });

  test('kills it at once if it is asked for twice, however deaf it is', async () => {
    holdTime();
    const { run, stops, pidIn } = await stage();
    const result = run(`sh '${fixture('stubborn.sh')}' > agent`);
    const pid = await pidIn('agent');
    stops.stop();
    stops.askAgain();
    // No time has passed: no step of the escalation can have come.
    await untilDead(pid);
    await passTimeThrough(result);
  });
});

describe('what a command leaves running', () => {
  test.for([
    ['a child', ''],
    ['a child in a session of its own', 'setsid'],
  ] as const)('is ended: %s', async ([, before]) => {
    const { run, pidIn } = await stage();
    const result = await run(
      `${before} sh '${fixture('quiet-server.sh')}' server >/dev/null 2>&1 & until [ -s server ]; do :; done; exit 3`,
    );
    expect(result).toMatchObject({ exitCode: 3, timedOut: false });
    expect(isDead(await pidIn('server'))).toBe(true);
  });

  test('is ended also where its parent was gone before anybody looked', async () => {
    const { run, pidIn } = await stage();
    // A double fork: neither parent nor session leads to it.
    await run(
      `(setsid sh '${fixture('quiet-server.sh')}' server >/dev/null 2>&1 &) & until [ -s server ]; do :; done`,
    );
    expect(isDead(await pidIn('server'))).toBe(true);
  });

  test('holds the result up for a grace and no longer if it holds the pipe', async () => {
    holdTime();
    const { run, pidIn } = await stage();
    const result = run(
      `sh '${fixture('stubborn.sh')}' | tee server & until [ -s server ]; do :; done; exit 0`,
    );
    const pid = await pidIn('server');
    expect(await passTimeThrough(result)).toMatchObject({ exitCode: 0, timedOut: false });
    expect(isDead(pid)).toBe(true);
  });

  test("takes none of the agent's background work along, nor what that starts meanwhile", async () => {
    const { cwd, run, runId } = await stage();
    const env = { PATH: process.env.PATH, RALPH_RUN_ID: runId };
    const server = startProgram('/bin/sh', [fixture('dev-server.sh')], { env });
    await untilReady(server.stdout, 'server');
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    const result = run(`kill -USR1 ${server.pid}; read -r _ < pipe`);
    const { worker: pid } = await untilReady(server.stdout, 'worker');
    await writeFile(join(cwd, 'pipe'), 'on\n');
    expect((await result).exitCode).toBe(0);
    expect([server.pid, pid].map(isDead)).toEqual([false, false]);
  });
});

describe('a command in the sandbox', () => {
  test.for([
    { outer: 0, inside: 0, verdict: 0 },
    { outer: 0, inside: 3, verdict: 3 },
    { outer: 0, inside: null, verdict: null },
    { outer: 5, inside: 0, verdict: 5 },
    { outer: 5, inside: null, verdict: 5 },
  ])(
    'that ends $outer outside and $inside inside has the exit code $verdict',
    async ({ outer, inside, verdict }) => {
      const confine: ShellOptions['confine'] = async ({ env }) => ({
        ...{ file: '/bin/sh', args: ['-c', `exit ${outer}`], env },
        exitCodeInside: () => inside,
      });
      const { run } = await stage({ confine });
      expect(await run('true')).toMatchObject({ exitCode: verdict, timedOut: false });
    },
  );
});

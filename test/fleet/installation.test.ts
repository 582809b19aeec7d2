import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../../src/effects/processes/find-program.ts';
import { installedRalph } from '../helpers/fleet-scene.ts';
import { makeFleetStub } from '../helpers/fleet-stub.ts';
import { isHere } from '../helpers/machine-needs.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { RALPH, runRalph } from '../helpers/run-ralph.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// pg-boss is loaded by the commands of a fleet alone.

const { PATH } = process.env;
const hasStrace = isHere(
  'strace',
  !('missing' in findProgram({ name: 'strace', env: { PATH }, cwd: '/', further: [] })),
);
const URL_OF_NONE = 'postgres://ralph@127.0.0.1:9/none';

/** Runs ralph with an agent on PATH. Returns how it ended, how often the agent was started, and what files it opened. */
async function traced(line: string) {
  const folder = await tempFolder();
  const log = join(folder, 'trace');
  const stub = makeFleetStub(join(folder, 'stub'), { seconds: 0 });
  const bins = [stub.bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const end = await runRalph(line.split(' '), {
    program: installedRalph(),
    under: ['strace', '-f', '-qq', '-e', 'trace=%file', '-o', log],
    env: { RALPH_FLEET: URL_OF_NONE, PATH: bins, ...stub.env('here') },
    timeoutMs: 60_000,
  });
  const starts = stub.notes().filter(({ kind }) => kind === 'START').length;
  return { end, starts, opened: readFileSync(log, 'utf8') };
}

test.skipIf(!hasStrace).for([
  ['--version', 0],
  ['run --dry-run --prompt x', 0],
  ['run --prompt x --delay 0', 1],
] as const)('ralph %s opens no file of pg-boss and looks for none', async ([line, agents]) => {
  const { end, starts, opened } = await traced(line);
  expect([end.exitCode, end.stderr.includes('RALPH_FLEET'), starts]).toEqual([0, false, agents]);
  expect(opened).not.toMatch(/pg-boss|node_modules\/pg\b/);
});

test.skipIf(!hasStrace)('the trace of a command that needs pg-boss shows it', async () => {
  expect((await traced('fleet status')).opened).toMatch(/pg-boss/);
});

test('without pg-boss, the commands of a fleet end with 2 and say how to install it', async () => {
  for (const args of [
    ['submit', '--repo', 'https://example.org/app.git', '--prompt', 'x'],
    ['worker'],
    ['fleet', 'status'],
    ['fleet', 'init'],
  ]) {
    const end = await runRalph([...args, '--fleet', URL_OF_NONE], { program: RALPH });
    expect([args, end.exitCode, end.stdout]).toEqual([args, 2, '']);
    expect(end.stderr).toMatch(/npm install (?:-g )?pg-boss@~12\.38/);
  }
});

test('a worker that cannot have the sandbox of its policy ends with 2 before it claims anything', async () => {
  const folder = await tempFolder();
  const policy = join(folder, 'policy.yaml');
  writeFileSync(policy, 'sandbox: true\n', { mode: 0o600 });
  const args = ['worker', '--policy', policy, '--home', join(folder, 'home')];
  const end = await runRalph([...args, '--fleet', URL_OF_NONE], { program: RALPH });
  expect([end.exitCode, end.stdout]).toEqual([2, '']);
  expect(end.stderr).toMatch(/sandbox: true, which this worker cannot provide\. --sandbox /);
});

test('a home that cannot be made is a mistake of the user', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const args = ['worker', '--home', join(file, 'home'), '--fleet', URL_OF_NONE];
  const end = await runRalph(args, { program: RALPH });
  expect([end.exitCode, end.stdout]).toEqual([2, '']);
  expect(end.stderr).toMatch(/cannot be made \(ENOTDIR: .*\); name another folder with --home\./);
});

/** What a server says that wants a password by SCRAM: what it can do, and then its challenge. */
const CHALLENGES = [saying(10, 'SCRAM-SHA-256\0\0'), saying(11, 'r=nonce,s=c2FsdA==,i=4096')];

function saying(kind: number, text: string): Buffer {
  const head = Buffer.alloc(9, 'R');
  head.writeInt32BE(8 + text.length, 1);
  head.writeInt32BE(kind, 5);
  return Buffer.concat([head, Buffer.from(text)]);
}

test('a command without a password says so and ends, whatever the server does then', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const left = [...CHALLENGES];
    socket.on('data', () => socket.write(left.shift() ?? ''));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `postgres://ralph@127.0.0.1:${port}/fleet`;
  const env = { HOME: await tempFolder() };
  const options = { program: installedRalph(), env, timeoutMs: PATIENCE_MS };
  const end = await runRalph(['fleet', 'status', '--fleet', url], options);
  expect([end.exitCode, end.stdout]).toEqual([1, '']);
  expect(end.stderr).toMatch(/a password is required and none was found; put it into ~\/\.pgpass/);
});

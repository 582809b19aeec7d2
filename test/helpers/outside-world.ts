import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './processes.ts';
import { asUser, type SandboxScene } from './sandbox-scene.ts';

/** Starts what an agent may want to reach outside, and returns the variables that lead there. */
export async function outsideWorld(scene: SandboxScene): Promise<NodeJS.ProcessEnv> {
  const tag = randomBytes(6).toString('hex');
  const socket = join(scene.base, 'socket');
  const udpLog = join(scene.base, 'udp-log');
  const terminal = join(scene.base, 'terminal');
  const denied = await listening(answering(), { port: 0, host: '0.0.0.0' });
  const allowed = await listening(answering(), { port: 0, host: '127.0.0.1' });
  await listening(createServer(), { path: socket });
  chmodSync(socket, 0o777);
  writeFileSync(udpLog, '');
  const udp = createSocket('udp4', (message) => appendFileSync(udpLog, message));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void udp.close());
  const mark = `victim-${tag}`;
  const victim = kept(scene, ['/bin/sh', '-c', 'sleep 1000; :', mark], { HELD: 'SECRET-ENV' });
  kept(scene, ['socat', `ABSTRACT-LISTEN:ralph-${tag},fork`, '-']);
  kept(scene, ['script', '-qfc', `tty > '${terminal}'; sleep 1000`, '/dev/null']);
  await until(
    () => existsSync(terminal) && readFileSync(terminal, 'utf8').endsWith('\n'),
    () => 'a terminal',
  );
  await until(
    () => readFileSync('/proc/net/unix', 'utf8').includes(`@ralph-${tag}`),
    () => 'the abstract socket',
  );
  const other = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find((each) => each.family === 'IPv4' && !each.internal);
  return {
    TAG: tag,
    NUMBER: String(randomBytes(4).readUInt32LE()),
    ADDRESS: other?.address ?? '127.0.0.2',
    DENIED_PORT: String(denied),
    ALLOWED_PORT: String(allowed),
    UDP_PORT: String(udp.address().port),
    UDP_LOG: udpLog,
    SOCKET: socket,
    ABSTRACT: `ralph-${tag}`,
    VICTIM: String(victim.pid),
    VICTIM_MARK: mark,
    TERMINAL: readFileSync(terminal, 'utf8').trim(),
    GITHUB_TOKEN: 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    SSH_AUTH_SOCK: socket,
  };
}

/** Starts a program as the user of the tests; it ends with the test. */
function kept(
  scene: SandboxScene,
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const [file = '', ...args] = asUser(command);
  const child = spawn(file, args, {
    env: { ...scene.env, ...env },
    detached: true,
    stdio: 'ignore',
  });
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // An attempt has ended it.
    }
  });
  return child;
}

function answering(): Server {
  return createHttpServer((_, response) => void response.end('SERVER'));
}

/** Resolves to the port; 0 for a socket in the file system. */
function listening(server: Server, where: ListenOptions): Promise<number> {
  onTestFinished(() => void server.close());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

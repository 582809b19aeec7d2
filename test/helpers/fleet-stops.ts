import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FleetHost } from './fleet-hosts.ts';
import type { FleetScene, FleetWorker } from './fleet-scene.ts';
import { isHere } from './machine-needs.ts';
import { PATIENCE_MS } from './patience.ts';
import { isDead, startProgram, stateOf, until, untilDead } from './processes.ts';
import { tempFolder } from './temp-folder.ts';

// How workers are stopped and waited for.

/** Stops all that runs on a host, its guards too. Only with namespaces. */
export async function freeze(host: FleetHost): Promise<void> {
  const isStopped = (pid: number): boolean => isDead(pid) || stateOf(pid)?.startsWith('T') === true;
  await until(
    () => {
      // One of them may just have started another.
      host.signalAll('SIGSTOP');
      return host.pids().every(isStopped);
    },
    () => `the stop of ${host.pids().map((pid) => `${pid} ${stateOf(pid)}`)}`,
  );
}

/** Waits until nothing runs on a host but these workers. */
export async function untilOnly(
  host: FleetHost,
  workers: readonly FleetWorker[],
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const own = workers.map(({ pid }) => pid);
  const others = (): readonly number[] =>
    host.pids().filter((pid) => !own.includes(pid) && !isDead(pid));
  await until(
    () => others().length === 0,
    () => `the end of all but the workers; ${others()}`,
    timeoutMs,
  );
}

/** Sweeps the fleet twice a second until the test is over, so that it does not wait for the sweep of a worker. */
export function sweepOften({ queue }: Pick<FleetScene, 'queue'>): void {
  const timer = setInterval(() => void queue.sweep().catch(() => {}), 500);
  onTestFinished(() => clearInterval(timer));
}

/** Whether strace is there, and may look into the processes of this one. */
export function hasStrace(): boolean {
  return isHere('strace', process.getuid?.() === 0 && spawnSync('strace', ['-V']).status === 0);
}

const LOOKS = '?access,?faccessat,?faccessat2';

/** Has strace stop a process when its main thread next asks whether it may use a file. */
export async function stopAtLook(
  pid: number,
  file: string,
): Promise<{ untilStopped(): Promise<void> }> {
  const log = join(await tempFolder(), 'strace');
  const calls = ['-e', `trace=${LOOKS}`, '-e', `inject=${LOOKS}:signal=SIGSTOP:when=1`];
  const strace = startProgram('strace', [
    '-p',
    String(pid),
    '-qq',
    '-o',
    log,
    '-P',
    file,
    ...calls,
  ]);
  await until(
    () => !/^TracerPid:\s+0$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
    () => 'strace',
  );
  return {
    async untilStopped() {
      await until(
        () => existsSync(log) && readFileSync(log, 'utf8').includes('stopped by SIGSTOP'),
        () => `the look at ${file}`,
      );
      strace.kill('SIGKILL');
      await untilDead(strace.pid);
    },
  };
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from './find-program.ts';
import { spawnHelper } from './spawn-process.ts';

/*
 * Keeps the machine awake while one small process lives, which never outlives ralph:
 *
 *   Linux    systemd-inhibit … cat     cat reads a pipe whose other end only ralph holds
 *   macOS    caffeinate -i -w PID      watches that pid itself
 *
 * In a session of its own, nothing on the terminal can ask for a password.
 */

export interface SleepInhibitorRequest {
  readonly taskId: string;
  readonly env: NodeJS.ProcessEnv;
  /** Set explicitly: try even if it does not seem to work here. */
  readonly isAsked: boolean;
  readonly platform?: NodeJS.Platform;
}

interface SleepInhibitor {
  close(): void;
}

const NONE: SleepInhibitor = { close() {} };

/** Keeps the machine awake if possible; a failure is silent. Never throws. */
export function preventSleep(request: SleepInhibitorRequest): SleepInhibitor {
  const { env, isAsked, platform = process.platform } = request;
  const command = commandFor(platform, request.taskId);
  if (command === null || (!isAsked && !seemsToWork(platform, env))) return NONE;
  const [name, ...args] = command;
  const found = findProgram({ name, env, cwd: '/', further: ['/usr/bin'] });
  if ('missing' in found) return NONE;
  // No RALPH_RUN_ID: it is not the agent's process, and only ralph may end it.
  const { PATH, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = env;
  const own = { PATH, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR };
  const child = spawnHelper(found.file, args, own, () => {});
  if (child === null) return NONE;
  return {
    close() {
      child.stdin.end();
      // It may still be talking to the system and not be reading yet.
      child.kill('SIGTERM');
    },
  };
}

function commandFor(platform: NodeJS.Platform, taskId: string): [string, ...string[]] | null {
  if (platform === 'darwin') return ['caffeinate', '-i', '-w', String(process.pid)];
  if (platform !== 'linux') return null;
  const why = `task ${taskId} runs`;
  return ['systemd-inhibit', '--what=idle:sleep', '--who=ralph', `--why=${why}`, 'cat'];
}

/** True on a desktop or laptop, not in a container or a CI job. */
function seemsToWork(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env.CI) return false;
  if (platform === 'darwin' || env.DBUS_SESSION_BUS_ADDRESS) return true;
  return Boolean(env.XDG_RUNTIME_DIR) && existsSync(path.join(env.XDG_RUNTIME_DIR ?? '', 'bus'));
}

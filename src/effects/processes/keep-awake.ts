import { existsSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from './find-program.ts';
import { spawnHelper } from './spawn-process.ts';

/*
 * A small process keeps the machine awake while it lives. It never outlives ralph:
 *
 *   Linux    systemd-inhibit … cat     cat reads a pipe whose other end only ralph holds
 *   macOS    caffeinate -i -w PID      watches ralph's pid
 *
 * The process has its own session, so it cannot ask for a password on the terminal.
 */

export interface SleepInhibitorRequest {
  readonly taskId: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the user asked for this: then ralph tries even where it does not seem to work. */
  readonly isAsked: boolean;
  readonly platform?: NodeJS.Platform;
}

interface SleepInhibitor {
  close(): void;
}

const NONE: SleepInhibitor = { close() {} };

/** Keeps the machine awake until `close` is called. Ignores failures; never throws. */
export function preventSleep(request: SleepInhibitorRequest): SleepInhibitor {
  const { env, isAsked, platform = process.platform } = request;
  const command = commandFor(platform, request.taskId);
  if (command === null || (!isAsked && !seemsToWork(platform, env))) return NONE;
  const [name, ...args] = command;
  const found = findProgram({ name, env, cwd: '/', further: ['/usr/bin'] });
  if ('missing' in found) return NONE;
  // Without RALPH_RUN_ID, because this is not a process of the agent, and only ralph may end it.
  const { PATH, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = env;
  const own = { PATH, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR };
  const child = spawnHelper(found.file, args, own, () => {});
  if (child === null) return NONE;
  return {
    close() {
      child.stdin.end();
      // The process may still be starting, and not be reading its input yet.
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

/** Whether this seems to be a desktop or laptop, not a container or a CI job. */
function seemsToWork(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env.CI) return false;
  if (platform === 'darwin' || env.DBUS_SESSION_BUS_ADDRESS) return true;
  return Boolean(env.XDG_RUNTIME_DIR) && existsSync(path.join(env.XDG_RUNTIME_DIR ?? '', 'bus'));
}

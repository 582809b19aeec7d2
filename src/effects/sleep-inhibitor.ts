import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { findProgram } from './find-program.ts';

/*
 * Keeps the machine awake for as long as one small process lives, which never outlives ralph:
 *
 *   Linux    systemd-inhibit … cat     cat reads a pipe whose other end nobody but ralph has
 *   macOS    caffeinate -i -w PID      looks after that pid itself
 *
 * It runs in a session of its own, so that no signal of the terminal reaches it, and nothing on that
 * terminal can ask for a password.
 */

export interface SleepInhibitorRequest {
  readonly taskId: string;
  readonly env: NodeJS.ProcessEnv;
  /** Asked for by name: tried also where it seems not to work. */
  readonly isAsked: boolean;
  readonly platform?: NodeJS.Platform;
}

/** What keeps the machine awake until it is closed. */
export interface SleepInhibitor {
  close(): void;
}

const NONE: SleepInhibitor = { close() {} };

/** Keeps the machine awake, if it can; that it cannot is nothing to trouble anybody with. Never throws. */
export function preventSleep(request: SleepInhibitorRequest): SleepInhibitor {
  const { env, isAsked, platform = process.platform } = request;
  const command = commandFor(platform, request.taskId);
  if (command === null || (!isAsked && !seemsToWork(platform, env))) return NONE;
  const [name, ...args] = command;
  const found = findProgram({ name, env, cwd: '/', further: ['/usr/bin'] });
  const child = 'file' in found ? start(found.file, args, env) : null;
  if (child === null) return NONE;
  return {
    close() {
      child.stdin?.end();
      // It may still be talking to the system, and not reading yet.
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

/** Of somebody who works at this machine, rather than of a container or a job. */
function seemsToWork(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env.CI) return false;
  if (platform === 'darwin' || env.DBUS_SESSION_BUS_ADDRESS) return true;
  return Boolean(env.XDG_RUNTIME_DIR) && existsSync(path.join(env.XDG_RUNTIME_DIR ?? '', 'bus'));
}

function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess | null {
  try {
    const child = spawn(file, args, {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      // No mark of a loop's: it is not the agent's, and nobody but ralph ends it.
      env: {
        PATH: env.PATH,
        DBUS_SESSION_BUS_ADDRESS: env.DBUS_SESSION_BUS_ADDRESS,
        XDG_RUNTIME_DIR: env.XDG_RUNTIME_DIR,
      },
    });
    // What spawn cannot do it tells later; that it has ended is told by a broken pipe.
    child.on('error', () => {});
    child.stdin?.on('error', () => {});
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    return child;
  } catch {
    return null;
  }
}

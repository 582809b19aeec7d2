import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makePrivateFolder, type RunPlan } from '../../compose.ts';
import type { RalphEvent } from '../../core/events.ts';
import type { View } from '../../report/view.ts';
import { DETACHED_LOG } from '../settings/environment.ts';

/*
 * A loop that outlives the terminal it was started from:
 *
 *   ralph run --detach ──spawns──► the same command, in a session of its own, writing to a log
 *          │                              │
 *          │ ◄── "started" by IPC ────────┤ first iteration begins; the log moves to the task's folder
 *          │ ◄── or its end ──────────────┘ what kept it from starting stands in the log
 *          ▼
 *   prints id and log, exits 0 (or tells why it did not start, with that exit code)
 */

/** Starts the command again in the background. `argv` names the task. Resolves to the exit code. */
export async function detach(plan: RunPlan, argv: readonly string[]): Promise<number> {
  const log = logFile(plan);
  const descriptor = openSync(log, 'a', 0o600);
  const ownScript = process.argv[1] ?? '';
  const child = spawn(process.execPath, [...process.execArgv, ownScript, ...argv], {
    detached: true,
    stdio: ['pipe', descriptor, descriptor, 'ipc'],
    env: { ...process.env, [DETACHED_LOG]: log },
  });
  closeSync(descriptor);
  child.stdin?.on('error', () => {});
  child.stdin?.end(plan.prompt);

  const outcome = await new Promise<string | number>((resolve) => {
    child.once('message', (message) => resolve(String(message)));
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  if (typeof outcome === 'string') {
    child.disconnect();
    child.unref();
    process.stdout.write(`${plan.taskId}\n`);
    process.stderr.write(`ralph: ${plan.taskId} runs in the background; log: ${outcome}\n`);
    return 0;
  }
  process.stderr.write(readFileSync(log));
  rmSync(log, { force: true });
  return outcome;
}

/** Where the words of the process in the background go until its task has a folder. */
function logFile(plan: RunPlan): string {
  const name = `.${plan.taskId}.${process.pid}.log`;
  try {
    makePrivateFolder(plan.stateDir);
    const file = path.join(plan.stateDir, name);
    closeSync(openSync(file, 'wx', 0o600));
    return file;
  } catch {
    return path.join(mkdtempSync(path.join(tmpdir(), 'ralph-')), name);
  }
}

/** An agent that is not there, or lets nobody in, ends the task within moments of its start. */
const FAILS_WITHIN_MS = 1_500;

/**
 * Tells whoever started this process in the background that it has begun: as soon as the agent shows
 * itself, somebody is waited for, or no failure has come for a moment.
 */
export function detachedView(log: string, folder: string): View {
  let timer: NodeJS.Timeout | undefined;
  let hasTold = false;
  const tell = (): void => {
    clearTimeout(timer);
    if (hasTold) return;
    hasTold = true;
    process.send?.(movedTo(log, path.join(folder, 'driver.log')), () => process.disconnect?.());
  };
  return {
    get showsActivity() {
      return !hasTold;
    },
    showsText: false,
    event(event) {
      const hasEnded = 'exit_code' in event && 'status' in event;
      if (event.event === 'iteration_started') timer ??= setTimeout(tell, FAILS_WITHIN_MS);
      // A bad end is told by the exit code, and the log with it.
      else if (hasEnded ? event.exit_code === 0 : SIGNS.includes(event.event)) tell();
      else if (hasEnded) clearTimeout(timer);
    },
    agentText() {},
    notice() {},
    close() {},
  };
}

const SIGNS: readonly RalphEvent['event'][] = [
  'agent_activity',
  'asked_back',
  'task_iterated',
  'task_paused',
  'usage_limit_wait',
  'agent_retry',
];

/** The log goes with the task, into the history too. On another file system it stays where it is. */
function movedTo(from: string, to: string): string {
  try {
    renameSync(from, to);
    return to;
  } catch {
    return from;
  }
}

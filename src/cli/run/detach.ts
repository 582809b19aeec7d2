import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import { DETACHED_LOG } from '../../core/settings/environment.ts';
import { makePrivateFolder } from '../../effects/files/write-file.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { RunView } from '../../report/terminal/view.ts';
import { say } from '../terminal/outlet.ts';

/*
 * How a loop outlives the terminal it was started from:
 *
 *   ralph run --detach ──spawns──► the same command, in a session of its own, writing to a log
 *          │                              │
 *          │ ◄── "started" by IPC ────────┤ first iteration begins; the log moves to the task's folder
 *          │ ◄── or its end ──────────────┘ the log says why it did not start
 *          ▼
 *   prints id and log, exits 0 (or prints why it did not start, with that exit code)
 */

/** Starts this command in the background with `argv`, which names the task. Resolves to the exit code. */
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
    say(`${plan.taskId} runs in the background; log: ${outcome}`);
    return 0;
  }
  process.stderr.write(readFileSync(log));
  rmSync(log, { force: true });
  return outcome;
}

/** Returns the log file that the background process uses until its task has a folder. */
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

/** If the agent is missing or not logged in, the task ends within this time after its start (milliseconds). */
const FAILS_WITHIN_MS = 1_500;

/** Returns the view of a background run. It shows nothing, but tells the parent process that the task has begun. */
export function detachedView(log: string, folder: string): RunView {
  let timer: NodeJS.Timeout | undefined;
  let isReported = false;
  const report = (): void => {
    clearTimeout(timer);
    if (isReported) return;
    isReported = true;
    process.send?.(movedTo(log, path.join(folder, 'driver.log')), () => process.disconnect?.());
  };
  return {
    get showsActivity() {
      return !isReported;
    },
    showsText: false,
    event(event) {
      const hasEnded = 'exit_code' in event && 'status' in event;
      if (event.event === 'iteration_started') timer ??= setTimeout(report, FAILS_WITHIN_MS);
      // The parent learns of a failure from the exit code and the log.
      else if (hasEnded ? event.exit_code === 0 : SIGNS.includes(event.event)) report();
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

/** Moves the log into the task's folder, unless that is on another file system. Returns the path of the log. */
function movedTo(from: string, to: string): string {
  try {
    renameSync(from, to);
    return to;
  } catch {
    return from;
  }
}

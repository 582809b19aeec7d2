import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { listProcesses } from '../../src/effects/processes/process-table.ts';
import { until } from './processes.ts';

/** A process that is alive, for a message that says which. */
interface Living {
  readonly pid: number;
  readonly command: string;
}

/**
 * What is alive of all that was started with this folder as its HOME: ralph, the agent and whatever either
 * started. The folder has to be the test's own. The guard is not among them, since its environment is wiped.
 */
export function livingIn(home: string): readonly Living[] {
  const entry = `HOME=${home}`;
  return listProcesses()
    .filter(({ pid }) => environmentOf(pid).includes(entry))
    .map(({ pid }) => ({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** Waits until nothing of it is alive. */
export async function untilNobodyIn(home: string): Promise<void> {
  await until(
    () => livingIn(home).length === 0,
    () => `the death of ${JSON.stringify(livingIn(home))}`,
  );
}

/** Ends, when the test is over, whatever is still alive of it then. */
export function endAllInLater(home: string): void {
  onTestFinished(() => {
    for (const { pid } of livingIn(home)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It went by itself just now.
      }
    }
  });
}

/** The variables with which a process was started, `NAME=VALUE` each; none if it is gone or wiped them. */
export function environmentOf(pid: number): readonly string[] {
  return read(pid, 'environ').split('\0');
}

function read(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

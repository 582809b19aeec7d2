import { listProcesses, readProcess } from '../../src/effects/processes/process-table.ts';
import { endLater, until } from './processes.ts';

/** The guard of a running ralph, once it is there; it is ended with the test. */
export async function guardOf(ralph: number): Promise<number> {
  const pid = await until(
    () => guardsOf(ralph)[0],
    () => 'the guard',
  );
  endLater(pid);
  return pid;
}

/** All guards of a running ralph. */
export function guardsOf(ralph: number): readonly number[] {
  return listProcesses()
    .filter(({ pid, ppid }) => ppid === ralph && readProcess(pid)?.command.includes('ralph-guard'))
    .map(({ pid }) => pid);
}

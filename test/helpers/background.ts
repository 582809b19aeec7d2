import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { endLater, pidOutside, until } from './processes.ts';

/** A shell command that is a server to all appearances: it says its pid in a file and lives on. */
export function server(pidFile: string): string {
  return `exec > /dev/null 2>&1; echo $$ > '${pidFile}'; exec sleep 600`;
}

/** The pid that a program writes into a file, once it is there; that process is ended with the test. */
export async function untilPid(file: string, timeoutMs?: number): Promise<number> {
  const pid = await until(
    () => Number(/^(\d+)\n/.exec(readIfThere(file))?.[1] ?? 0) || null,
    () => `a pid in ${file}`,
    timeoutMs,
  );
  const outside = pidOutside(pid, dirname(file));
  endLater(outside);
  return outside;
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

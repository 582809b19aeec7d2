import { isWithinAny } from '../../core/sandbox/places.ts';
import { missingTools, type Tool } from '../../core/sandbox/refusals.ts';
import { SandboxError } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';
import { findProgram } from '../processes/find-program.ts';

/** The programs that the component (the sandbox package) needs: absolute paths that no agent can write to. */
export type ToolFiles = Readonly<Record<Tool, string>>;

/** Finds the programs of the component. Throws a `SandboxError` that names those that are missing. */
export function findTools(outer: string, writable: readonly string[]): ToolFiles {
  const missing: Tool[] = [];
  const fileOf = (name: Tool): string => {
    const file = findOuter(name, outer, writable);
    if (file === null) missing.push(name);
    return file ?? '';
  };
  const files = { bwrap: fileOf('bwrap'), socat: fileOf('socat'), rg: fileOf('rg') };
  if (missing.length > 0) throw new SandboxError(missingTools(missing));
  return files;
}

/** Returns the real path of a program; null if it is missing, or if the agent may write to its real path. */
function findOuter(name: string, outer: string, writable: readonly string[]): string | null {
  const found = findProgram({ name, env: { PATH: outer }, cwd: '/', further: [] });
  if ('missing' in found) return null;
  const file = realPath(found.file);
  return isWithinAny(file, writable) ? null : file;
}

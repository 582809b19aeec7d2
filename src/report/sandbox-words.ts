import type { MetInSandbox, RefusedHost } from '../core/agent/attempt.ts';
import type { TaskState } from '../core/task/task-state.ts';
import { shellQuote } from './resume-command.ts';

type Held = Pick<TaskState, 'sandbox'>;

/** Names a host that the sandbox refused: `evil.example.com:443 (3 times)`. */
export function refusedHost({ host, port, count }: RefusedHost): string {
  return `${host}:${port} (${count === 1 ? 'once' : `${count} times`})`;
}

/** Says what the sandbox met, one line each. */
export function metLines({ refused, planted, more }: MetInSandbox): readonly string[] {
  return [
    ...[...refused.map(refusedHost), ...andMore(more?.refused)].map((each) => `refused: ${each}`),
    ...[...planted, ...andMore(more?.planted)].map((each) => `planted: ${each}`),
  ];
}

/** Says whether the last run of a task had the sandbox. */
export function sandboxWord({ sandbox }: Held): 'on' | 'off' {
  return sandbox?.is ?? 'off';
}

/** Says the same, with what resumes have changed about it. */
export function sandboxText({ sandbox }: Held): string {
  const changes = (sandbox?.changes ?? []).map(({ at, what }) => `${at.slice(0, 16)}Z ${what}`);
  return [sandboxWord({ sandbox }), ...changes].join('; ');
}

/** Returns each refused host with the flag that would allow it. `code` marks what can be copied. */
export function refusedLines(
  { sandbox }: Held,
  code: (text: string) => string = (text) => text,
): readonly string[] {
  const lines = (sandbox?.refused ?? []).map((each) => {
    const flag = `--allow-net ${shellQuote(`${each.host}:${each.port}`)}`;
    return `${code(refusedHost(each))}: ${code(flag)} would allow it`;
  });
  return [...lines, ...andMore(sandbox?.more?.refused)];
}

/**
 * Returns the files that came to be in the sandbox and that other programs may run or obey. `code` marks names of
 * files.
 */
export function plantedFiles(
  { sandbox }: Held,
  code: (text: string) => string = (text) => text,
): readonly string[] {
  return [...(sandbox?.planted ?? []).map(code), ...andMore(sandbox?.more?.planted)];
}

function andMore(more = 0): readonly string[] {
  return more === 0 ? [] : [`and ${more} more`];
}

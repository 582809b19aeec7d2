import type { MetInSandbox, RefusedHost } from '../core/agent/attempt.ts';
import type { SandboxRules } from '../core/sandbox/rules.ts';
import type { TaskState } from '../core/task/task-state.ts';
import { firstFew, oneLine } from '../core/text/untrusted-text.ts';
import { shellQuote } from '../printed-command.ts';

type Held = Pick<TaskState, 'sandbox'>;

const MOST_VARIABLES = 12;
const NAME_CHARS = 60;

/** Names the variables that are not passed on to the agent, without their values; null for none. */
export function notPassedOn({ dropEnv }: Pick<SandboxRules, 'dropEnv'>): string | null {
  if (dropEnv.length === 0) return null;
  const names = dropEnv.map(({ value }) => value);
  return `Not passed on: ${firstFew(names, shortName, MOST_VARIABLES)} (--keep-env NAME passes one on).`;
}

const MOST_ENTRIES = 3;

/** Names the entries of the home folder that the agent can read; null for none. */
export function readableHome(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const listed = firstFew(names, shortName, MOST_ENTRIES);
  return `Your home can be read but for its dot files: ${listed} (--deny-read ~ hides them).`;
}

function shortName(name: string): string {
  return oneLine(name, NAME_CHARS);
}

/** Names a host that the sandbox refused: `evil.example.com:443 (3 times)`. */
export function refusedHost({ host, port, count }: RefusedHost): string {
  return `${host}:${port} (${count === 1 ? 'once' : `${count} times`})`;
}

/** Returns a line for each host that the sandbox refused, and for each new file that other programs may run. */
export function metLines({ refused, planted, more }: MetInSandbox): readonly string[] {
  return [
    ...[...refused.map(refusedHost), ...andMore(more?.refused)].map((each) => `refused: ${each}`),
    ...[...planted, ...andMore(more?.planted)].map(
      (each) => `new file that other programs may run: ${each}`,
    ),
  ];
}

/** Says whether the last run of a task had the sandbox. */
export function sandboxWord({ sandbox }: Held): 'on' | 'off' {
  return sandbox?.is ?? 'off';
}

/** Says whether the last run of a task had the sandbox, and what resumes have changed about it. */
export function sandboxText({ sandbox }: Held): string {
  const changes = (sandbox?.changes ?? []).map(({ at, what }) => `${at.slice(0, 16)}Z ${what}`);
  return [sandboxWord({ sandbox }), ...changes].join('; ');
}

/** Returns each refused host with the flag that would allow it. `code` formats the parts that can be copied. */
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

/** Returns new files from inside the sandbox that other programs may run or obey. `code` formats their names. */
export function plantedFiles(
  { sandbox }: Held,
  code: (text: string) => string = (text) => text,
): readonly string[] {
  return [...(sandbox?.planted ?? []).map(code), ...andMore(sandbox?.more?.planted)];
}

function andMore(more = 0): readonly string[] {
  return more === 0 ? [] : [`and ${more} more`];
}

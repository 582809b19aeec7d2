/** A shell command that has to exit 0 before an agent's claim of completion is accepted: one `--verify`. */
export interface Check {
  /** Its key under `checks` in a configuration, or the command itself if it has no key. */
  readonly name: string;
  readonly command: string;
  /** Set if an item of a list named the check. The check runs, but gives the agent no permission to run its command. */
  readonly ofItem?: true;
}

/** Reads a command, several, or commands by name, and drops repeated ones. Returns null for any other value. */
export function readChecks(written: unknown): readonly Check[] | null {
  const checks = checksIn(written);
  if (checks === null) return null;
  return [...new Map(checks.map((check) => [JSON.stringify(check), check])).values()];
}

function checksIn(written: unknown): readonly Check[] | null {
  if (typeof written === 'string') return [unnamed(written)];
  if (Array.isArray(written)) return allOf(written.map(checkOf));
  if (typeof written !== 'object' || written === null) return null;
  return allOf(
    Object.entries(written).map(([name, command]) =>
      typeof command === 'string' ? { name: nameOf(name, command), command } : null,
    ),
  );
}

function checkOf(written: unknown): Check | null {
  if (typeof written === 'string') return unnamed(written);
  if (typeof written !== 'object' || written === null) return null;
  const { name, command, ofItem } = written as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || typeof command !== 'string') return null;
  return { name: nameOf(name, command), command, ...(ofItem === true ? { ofItem } : {}) };
}

function unnamed(command: string): Check {
  return { name: nameOf('', command), command };
}

/** Returns the name of a check, or else its command, on one line, since ralph's sentences contain names of checks. */
function nameOf(name: string, command: string): string {
  return (name.trim() || command).replace(/\s+/g, ' ').trim();
}

function allOf(checks: readonly (Check | null)[]): readonly Check[] | null {
  const known = checks.filter((check) => check !== null);
  return known.length === checks.length ? known : null;
}

/** Returns a check as a person wrote it: `unit: npm test`, or only the command of an unnamed one. */
export function writeCheck({ name, command }: Check): string {
  return name === nameOf('', command) ? command : `${name}: ${command}`;
}

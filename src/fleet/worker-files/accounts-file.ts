import { isObject } from '../../core/text/is-object.ts';
import { UsageError } from '../../errors.ts';
import { isAccountName } from '../core/spec-problems.ts';
import { readOwnFile } from './own-file.ts';

/** The environment variables for the agents of each account, by the account's name. */
export type Accounts = ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * Reads the accounts of a worker: each name with its variables and their values. Throws a `UsageError` if others can
 * read or write the file, or if anything in it is wrong; no message shows a value.
 */
export function readAccountsFile(file: string, where = '--accounts'): Accounts {
  const data = readOwnFile({ file, where, isSecret: true });
  if (!isObject(data)) {
    throw new UsageError([
      `${file} expects accounts with their variables, such as "default: {ANTHROPIC_API_KEY: …}".`,
    ]);
  }
  const problems: string[] = [];
  const accounts = new Map<string, Readonly<Record<string, string>>>();
  for (const [name, variables] of Object.entries(data)) {
    if (!isAccountName(name)) {
      problems.push(
        `${file}: '${name}' cannot be the name of an account; 1 to 64 characters of A-Z a-z 0-9 . _ @ + - are expected.`,
      );
    } else if (!isObject(variables)) {
      problems.push(`${file}: ${name} expects variables with their values; use {} for none.`);
    } else accounts.set(name, variablesOf(variables, `${file}: ${name}`, problems));
  }
  if (accounts.size === 0 && problems.length === 0) {
    problems.push(`${file} expects at least one account; found none.`);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return accounts;
}

function variablesOf(
  written: Readonly<Record<string, unknown>>,
  place: string,
  problems: string[],
): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(written)) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      problems.push(`${place} expects the name of a variable; found '${name}'.`);
    } else if (name.startsWith('RALPH_')) {
      problems.push(`${place}.${name} is a variable of ralph itself; take it out.`);
    } else if (typeof value !== 'string' || value.includes('\0')) {
      problems.push(`${place}.${name} expects a text; put the value in quotes.`);
    } else variables[name] = value;
  }
  return variables;
}

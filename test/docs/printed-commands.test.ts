import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** A command with a value in it, which a person would copy, or a list of words that becomes one. */
const COMMAND = /\bralph [a-z]+ (?:--?[\w-]+ )*\$\{(?![^}]*\} expects)|\['ralph [a-z]+', [^']/;

const ALLOWED = [
  // The reason in the reflog.
  'effects/branches/move-branch.ts',
  // What a submitter adds to a command of his own. The fleet's core imports nothing that prints.
  'fleet/core/judge-by-policy.ts',
  // What it reads, not what it does.
  'core/prompt/prompt-room.ts',
  'fleet/database/open-fleet.ts',
  // The names of its own acts.
  'fleet/cli/commands/fleet.ts',
  // Shell completion calls ralph itself.
  /^cli\/completion\//,
];

test('no command with a value is written by hand: printed-command.ts builds them all', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => !ALLOWED.some((each) => name.match(each) !== null));
  const found = files.flatMap((name) =>
    readFileSync(join(SRC, name), 'utf8')
      .split('\n')
      .filter((line) => COMMAND.test(line) && !/^\s*(?:\*|\/\/|\/\*)/.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

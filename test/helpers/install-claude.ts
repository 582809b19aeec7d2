import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { binFolder, installProgram, type NpmProgram } from './install-program.ts';

/** The `claude` whose behaviour the tests in `test/claude` hold, and the newer one that they also run with. */
const CLAUDE_VERSIONS = ['2.1.197', '2.1.330'] as const;

/** The version of this run: RALPH_TEST_CLAUDE, or the first. */
const CLAUDE_VERSION = chosenVersion(process.env.RALPH_TEST_CLAUDE);

const CLAUDE: NpmProgram = {
  name: 'claude',
  package: '@anthropic-ai/claude-code',
  version: CLAUDE_VERSION,
  neededBy: 'test/claude',
  // The package of this platform (system, processor and C library) holds the program itself.
  async candidates(folder) {
    const scope = join('node_modules', '@anthropic-ai');
    const names = await readdir(join(folder, scope));
    return names
      .filter((name) => name.startsWith('claude-code-'))
      .map((name) => join(scope, name, 'claude'));
  },
};

/** The facts in which the versions differ, as they are in this run. ralph depends on none of them. */
export const CLAUDE_FACTS = {
  '2.1.197': {
    overloadedStatus: null,
    networkGone: 'Unable to connect to API',
    cost: 'Total cost:',
    /** The answer to an unknown slash command; null if the model gets it as a prompt. */
    unknownCommand: 'Unknown command: /fix',
    endsToolOnSigterm: false,
    /** Whether a refusal is told when it happens, and not in the result alone. */
    tellsRefusalsAtOnce: false,
  },
  '2.1.330': {
    overloadedStatus: 529,
    networkGone: 'API Error: Connection dropped (ECONNRESET)',
    cost: 'Estimated cost:',
    unknownCommand: null,
    endsToolOnSigterm: true,
    tellsRefusalsAtOnce: true,
  },
}[CLAUDE_VERSION];

/** A folder for PATH that holds nothing but the real `claude`. */
export const CLAUDE_BIN_DIR = binFolder(CLAUDE);

/** Installs the real `claude`: the global set-up of the tests in `test/claude`. */
export async function setup(): Promise<void> {
  await installProgram(CLAUDE);
}

function chosenVersion(name: string | undefined): (typeof CLAUDE_VERSIONS)[number] {
  const version = CLAUDE_VERSIONS.find((known) => known === (name ?? CLAUDE_VERSIONS[0]));
  if (version !== undefined) return version;
  throw new Error(
    `RALPH_TEST_CLAUDE is ${JSON.stringify(name)}; the tests know ${CLAUDE_VERSIONS.join(' and ')}.`,
  );
}

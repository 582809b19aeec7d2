import { messageOf } from '../errors.ts';
import { EXIT_BUG } from '../exit-codes.ts';
import { IDS_COMMAND } from './completion/names.ts';
import { sayBug, watchForBugs } from './terminal/bugs.ts';

declare const __RALPH_VERSION__: string;

/**
 * The command line: arguments in, exit code out. Never throws; whatever goes wrong is one clear
 * sentence on standard error.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // A reader that goes away (`ralph … | head -1`) is no reason to leave an agent behind.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (argv[0] === '--version' || argv[0] === '-V') {
    process.stdout.write(`${__RALPH_VERSION__}\n`);
    return 0;
  }
  watchForBugs();
  try {
    // Asked at every press of the tab key: no command line is read for it.
    if (argv[0] === IDS_COMMAND) {
      const { completeIds } = await import('./commands/complete-ids.ts');
      return completeIds(argv.slice(1));
    }
    return await carryOut(argv);
  } catch (error) {
    return await explain(error);
  }
}

/** Only what the command needs is loaded: those that run an agent do without the table of commands. */
async function carryOut(argv: readonly string[]): Promise<number> {
  const [name, ...words] = argv;
  const help = (): Promise<number> => fromTable([name ?? '', '--help']);
  if (name === 'rescue') {
    const { rescueCommand } = await import('./commands/rescue.ts');
    return rescueCommand(words, help);
  }
  if (name === 'watch') {
    const { watchCommand } = await import('./commands/watch.ts');
    return watchCommand(words, help);
  }
  if (name !== 'run' && name !== 'resume') return fromTable(argv);
  const { runCommand, resumeCommand } = await import('./commands/run.ts');
  const command = name === 'run' ? runCommand : resumeCommand;
  return command(words, help);
}

async function fromTable(argv: readonly string[]): Promise<number> {
  const { runProgram } = await import('./program.ts');
  return runProgram(argv);
}

/**
 * Mistakes of the caller's know their exit code; anything else is a bug of ours. A sentence may quote
 * what stands in a file of somebody else's.
 */
async function explain(error: unknown): Promise<number> {
  const { withoutControls } = await import('../core/text/untrusted-text.ts');
  const message = withoutControls(messageOf(error));
  if (error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number') {
    process.stderr.write(`${message.replace(/^/gm, 'ralph: ')}\n`);
    return error.exitCode;
  }
  sayBug(error);
  return EXIT_BUG;
}

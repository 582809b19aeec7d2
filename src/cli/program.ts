import { Command, CommanderError } from 'commander';
import { nearest } from '../core/nearest.ts';
import { UsageError } from '../errors.ts';
import type { TellOptions } from './commands/tell.ts';
import { declareSettings } from './settings/flags.ts';

declare const __RALPH_VERSION__: string;

/** Reads the command line and carries the command out. Resolves to the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = new Command('ralph')
    .description(
      'Keeps running a coding agent on one task until the task is provably done, and never longer than it was told to.',
    )
    .version(__RALPH_VERSION__, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp({ helpWidth: 80 })
    .configureOutput({ outputError: () => {} });

  program
    .command('demo')
    .description('the whole loop on a bundled stand-in agent: no account, no network')
    .action(async () => {
      const { demo } = await import('./commands/demo.ts');
      exitCode = await demo();
    });
  program
    .command('tell')
    .description('put a hint into the next prompt of a running task')
    .argument('<id>', 'the task')
    .argument('<hint>', 'what the agent is told')
    .option('--vault <DIR>', 'the folder with .ralph_state (default: here)')
    .option('--state-dir <DIR>', 'where states are kept (default: .ralph_state in the vault)')
    .action(async (id: string, hint: string, options: TellOptions) => {
      const { tell } = await import('./commands/tell.ts');
      exitCode = await tell(id, hint, options);
    });
  // Its arguments are read by themselves, so that every mistake in them is told at once; here it
  // has its place in the help.
  const run = program
    .command('run')
    .description('run one task to its end')
    .usage('--prompt TEXT [options] [-- agent options]');
  declareSettings(run);
  if (argv[0] === 'run') {
    const { runCommand } = await import('./commands/run.ts');
    return runCommand(argv.slice(1), () => run.helpInformation());
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    return explainCommander(error, program, argv);
  }
  return exitCode;
}

/** Help and version are no errors; a word that is no command is told its nearest neighbour. */
function explainCommander(error: unknown, program: Command, argv: readonly string[]): number {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return 0;
  const word = argv.find((each) => !each.startsWith('-'));
  const names = program.commands.map((command) => command.name());
  if (error.code === 'commander.unknownCommand' && word !== undefined) {
    const near = nearest(word, names);
    throw new UsageError([
      `${word} is not a command of ralph${near === null ? `; expected one of ${names.join(', ')}` : `; did you mean ${near}?`}`,
    ]);
  }
  if (error.code === 'commander.help') {
    throw new UsageError(['a command is needed, such as: ralph run --prompt "Fix the tests"']);
  }
  throw new UsageError([error.message.replace(/^error: /, '')]);
}

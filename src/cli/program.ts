import { Command } from 'commander';
import { declareCommands } from './command-list.ts';
import { explainCommander, refuseUnknownHelp } from './command-mistakes.ts';
import { SUGGEST_COMMAND } from './completion/scripts.ts';
import { actions } from './flags/actions.ts';
import { arrangeHelp } from './help-text.ts';

declare const __RALPH_VERSION__: string;

/** Parses the command line and runs the command. Resolves to the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const does = actions((code) => {
    exitCode = code;
  });
  const program = new Command('ralph')
    .description(
      'Keeps running a coding agent on one task until the task is provably done, and never longer than it was told to.',
    )
    .version(__RALPH_VERSION__, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp({ helpWidth: 80 })
    .configureOutput({ outputError: () => {} });

  declareCommands(program, does, (name) => argv.includes(name));
  arrangeHelp(program);
  if (argv[0] === SUGGEST_COMMAND) {
    return (await import('./commands/installation/suggest.ts')).suggest(program, argv.slice(1));
  }
  refuseUnknownHelp(program, argv);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    return explainCommander(error, program, argv);
  }
  return exitCode;
}

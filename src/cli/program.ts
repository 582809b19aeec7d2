import { Command, CommanderError } from 'commander';
import { nearest } from '../core/nearest.ts';
import { SETTINGS, type SettingRow, settingNames } from '../core/settings.ts';
import { UsageError } from '../errors.ts';
import type { WrittenSettings } from './options.ts';

declare const __RALPH_VERSION__: string;

/** The words of `ralph run`, read but not yet judged. */
export interface RunArguments {
  readonly written: WrittenSettings;
  /** What stood after `--`. */
  readonly passthrough: readonly string[];
  readonly problems: readonly string[];
  readonly argv: readonly string[];
}

/** Reads the command line and carries the command out. Resolves to the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const dashes = argv.indexOf('--');
  const own = dashes === -1 ? argv : argv.slice(0, dashes);
  const wantsHelp = own.some((word) => word === '--help' || word === '-h');
  if (argv[0] === 'run' && !wantsHelp) {
    const { runTaskCommand } = await import('./commands/run.ts');
    return runTaskCommand(readRunArguments(argv.slice(1)));
  }
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
  // Carried out above; here it has its place in the help.
  const run = program
    .command('run')
    .description('run one task to its end')
    .usage('--prompt TEXT [options] [-- agent options]');
  declareSettings(run);
  try {
    await program.parseAsync([...own], { from: 'user' });
  } catch (error) {
    return explainCommander(error, program, own);
  }
  return exitCode;
}

/** Reads the arguments of `run`; every unknown word is a problem, all of them at once. */
function readRunArguments(argv: readonly string[]): RunArguments {
  const dashes = argv.indexOf('--');
  const own = dashes === -1 ? argv : argv.slice(0, dashes);
  const passthrough = dashes === -1 ? [] : argv.slice(dashes + 1);
  const problems: string[] = [];
  const command = declareSettings(new Command('run').exitOverride().configureOutput(SILENT));
  let words = [...own];
  for (;;) {
    try {
      command.parse(words, { from: 'user' });
      break;
    } catch (error) {
      // The last flag lacks its value: note it, and see what else is wrong.
      const flag = words.at(-1);
      if (!(error instanceof CommanderError) || flag === undefined) throw error;
      problems.push(`${flag} needs a value, and none was given.`);
      words = words.slice(0, -1);
    }
  }
  problems.push(...strayWords(command.args));
  const options = command.opts<Record<string, unknown>>();
  const written: Record<string, unknown> = {};
  for (const name of settingNames()) {
    if (name === 'noColor') written[name] = options.color === false ? true : undefined;
    else written[name] = options[name] ?? aliasValue(SETTINGS[name], options);
  }
  return { written, passthrough, problems, argv: own };
}

const SILENT = { writeOut() {}, writeErr() {}, outputError() {} };

function declareSettings(command: Command): Command {
  command.allowUnknownOption().allowExcessArguments().configureHelp({ helpWidth: 80 });
  for (const name of settingNames()) {
    const row = SETTINGS[name];
    const option = command.createOption(flagsOf(row), helpOf(row)).helpGroup(`${row.group}:`);
    if (row.type.kind === 'texts') option.argParser(collect);
    command.addOption(option);
    for (const alias of row.aliases ?? []) {
      command.addOption(
        command.createOption(`${alias} <${row.argument ?? ''}>`, row.help).hideHelp(),
      );
    }
  }
  return command;
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

function flagsOf({ flag, short, argument }: SettingRow): string {
  return `${short === undefined ? '' : `${short}, `}${flag}${argument === undefined ? '' : ` <${argument}>`}`;
}

function helpOf(row: SettingRow): string {
  const choices = row.type.kind === 'choice' ? ` (${row.type.choices.join(', ')})` : '';
  return `${row.help}${choices}${row.default === undefined ? '' : ` (default: ${row.default})`}`;
}

function aliasValue(row: SettingRow, options: Readonly<Record<string, unknown>>): unknown {
  for (const alias of row.aliases ?? []) {
    const value = options[camelCase(alias)];
    if (value !== undefined) return value;
  }
  return undefined;
}

function camelCase(flag: string): string {
  return flag.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** One sentence for each word that is no flag of ours and no value of one. */
function strayWords(words: readonly string[]): readonly string[] {
  const flags = settingNames().flatMap((name) => [
    SETTINGS[name].flag,
    ...(SETTINGS[name].aliases ?? []),
  ]);
  const problems: string[] = [];
  words.forEach((word, index) => {
    if (word.startsWith('-') && word !== '-') {
      const flag = word.replace(/=.*$/s, '');
      const near = nearest(flag, flags);
      problems.push(
        `${flag} is not a flag of ralph run${near === null ? '' : `; did you mean ${near}?`}`,
      );
    } else if (!words[index - 1]?.startsWith('-')) {
      problems.push(
        `ralph run expects only flags; found '${word}'. Quote a value that has spaces, and put what is meant for the agent after --.`,
      );
    }
  });
  return problems;
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
    process.stderr.write(program.helpInformation());
    throw new UsageError(['a command is needed, such as: ralph run --prompt "Fix the tests"']);
  }
  throw new UsageError([error.message.replace(/^error: /, '')]);
}

import { fstatSync, writeSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import { EXIT_BUG, EXIT_FAILED } from '../exit-codes.ts';
import { startedBy } from '../printed-command.ts';
import { sayBug, watchForBugs } from './terminal/bugs.ts';
import { ownProgram } from './terminal/own-program.ts';

declare const __RALPH_VERSION__: string;

/** The command line: arguments in, exit code out. Never throws; an error is one sentence on standard error. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === '--version' || argv[0] === '-V') return printAtOnce(`${__RALPH_VERSION__}\n`);
  try {
    // A closed pipe (`ralph … | head -1`) must not kill ralph and leave an agent running.
    process.stderr.on('error', () => {});
    process.stdout.on('error', (error) => tellLoss(error, argv));
    if (fstatSync(STDOUT).isFile()) {
      process.stdout._write = (bytes, _encoding, done) => done(whyNotWritten(bytes));
    }
    watchForBugs();
    noteStart();
    return await carryOut(argv);
  } catch (error) {
    return await explain(error);
  }
}

/** Records how a person starts ralph here, for commands that ralph prints. Finds the program only once it is needed. */
function noteStart(): void {
  let folder: string;
  try {
    folder = process.cwd();
  } catch {
    // The working directory is gone. The command will report that.
    return;
  }
  let program: string | undefined;
  startedBy({
    folder,
    get program() {
      const { argv, env } = process;
      program ??= ownProgram({ script: argv[1] ?? '', folder, path: env.PATH ?? '' });
      return program;
    },
  });
}

/** The errors of an output whose reader has gone. */
const READER_GONE: readonly unknown[] = ['EPIPE', 'ECONNRESET', 'EIO'];

/** Says that output was lost, as on a full disk. The exit code of a run stays: it says how the task ended. */
function tellLoss(error: Error, [name = '']: readonly string[]): void {
  if ('code' in error && READER_GONE.includes(error.code)) return;
  process.stderr.write(`ralph: standard output could not be written: ${messageOf(error)}\n`);
  if (READING_WORDS.has(name)) return;
  process.once('exit', () => {
    process.exitCode ||= EXIT_FAILED;
  });
}

/** Prints without `process.stdout`, because opening that takes longer than all else. Returns the exit code. */
function printAtOnce(text: string): number {
  const error = whyNotWritten(Buffer.from(text));
  if (error !== null) tellLoss(error, []);
  return 0;
}

const STDOUT = 1;

/** Writes to standard output. Returns the error, also if only a part could be written, which Node overlooks for files. */
function whyNotWritten(bytes: Buffer): Error | null {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT, bytes, at);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Runs a command and loads only what it needs: commands that run an agent do not need the table of commands. */
async function carryOut(argv: readonly string[]): Promise<number> {
  const [name, ...words] = argv;
  const help = async (): Promise<number> => {
    const { shortHelp } = await import('./short-help.ts');
    const short = shortHelp(argv);
    if (short === null) return fromTable([name ?? '', '--help']);
    process.stdout.write(short);
    return 0;
  };
  if (name === '-h') return help();
  const load = READING_WORDS.get(name ?? '');
  return load === undefined ? fromTable(argv) : (await load())(words, help);
}

/** The commands that read their own arguments, so that they can report all mistakes together. */
const READING_WORDS = new Map([
  ['run', async () => (await import('./commands/run.ts')).runCommand],
  ['resume', async () => (await import('./commands/run.ts')).loadResume],
  ['work', async () => (await import('./commands/lists/work.ts')).workCommand],
  ['rescue', async () => (await import('./commands/rescue.ts')).rescueCommand],
  ['watch', async () => (await import('./commands/watch.ts')).watchCommand],
  ['submit', async () => (await import('../fleet/cli/submit/submit.ts')).submitCommand],
]);

async function fromTable(argv: readonly string[]): Promise<number> {
  const { runProgram } = await import('./program.ts');
  return runProgram(argv);
}

/** An error without an exit code is a bug in ralph. */
async function explain(error: unknown): Promise<number> {
  if (error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number') {
    const { say } = await import('./terminal/outlet.ts');
    say('sentence' in error ? String(error.sentence) : error.message);
    return error.exitCode;
  }
  sayBug(error);
  return EXIT_BUG;
}

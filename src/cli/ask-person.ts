import { closeSync, openSync, readSync } from 'node:fs';
import { isatty } from 'node:tty';

const STDIN = 0;
const STDERR = 2;

/**
 * How to ask whoever sits at the terminal; null where nobody does. Inside a loop it is null as well, since
 * an agent would answer there.
 */
export function personAt(env: NodeJS.ProcessEnv): ((question: string) => boolean) | null {
  return !env.RALPH_RUN_ID && isatty(STDIN) && isatty(STDERR) ? askPerson : null;
}

/**
 * Asks on standard error and waits for one line; whether that was a yes. Nothing else happens meanwhile,
 * so it is for before a start only: a signal then ends the process, as it does any other.
 */
function askPerson(question: string): boolean {
  process.stderr.write(question);
  return /^y(?:es)?$/i.test(readLine().trim());
}

const LONGEST_ANSWER = 100;

/** From the terminal itself: standard input may be set to return at once, and what follows stays in it. */
function readLine(): string {
  const terminal = openTerminal();
  const byte = Buffer.alloc(1);
  let line = '';
  try {
    while (line.length < LONGEST_ANSWER && readSync(terminal, byte) === 1 && byte[0] !== 0x0a) {
      line += byte.toString('latin1');
    }
  } finally {
    if (terminal !== STDIN) closeSync(terminal);
  }
  return line;
}

function openTerminal(): number {
  try {
    return openSync('/dev/tty', 'r');
  } catch {
    return STDIN;
  }
}

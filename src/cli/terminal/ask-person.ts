import { closeSync, openSync, readSync } from 'node:fs';
import { isatty } from 'node:tty';

const STDIN = 0;
const STDERR = 2;

/** Returns a function that asks a person; null without a terminal, and in a loop, where the agent would answer. */
export function personAt(env: NodeJS.ProcessEnv): ((question: string) => boolean) | null {
  return !env.RALPH_RUN_ID && isatty(STDIN) && isatty(STDERR) ? askPerson : null;
}

/** Asks, and blocks the process until the answer, so that it may be called only before a task runs. */
function askPerson(question: string): boolean {
  process.stderr.write(question);
  return /^y(?:es)?$/i.test(readLine().trim());
}

const LONGEST_ANSWER = 100;

/** Reads a line from the terminal itself: standard input may be non-blocking, and must keep its later lines. */
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

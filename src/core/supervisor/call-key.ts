import { isObject } from '../text/is-object.ts';

/**
 * Returns a number that is the same for the same call: tool and input, in any order of the fields. Of a shell tool only
 * the command and its folder count, with the white space of the command folded: an agent describes a command in new
 * words each time.
 */
export function callKey(tool: string, input: Readonly<Record<string, unknown>> | null): number {
  const command = input === null ? null : shellCommand(tool, input);
  // The same command in another folder is another call.
  const what = command === null ? input : [command, ...FOLDERS.map((name) => input?.[name])];
  return hashOf(JSON.stringify([tool, what], inOrder));
}

/** The tools that run a shell command, by the names that agents use. Of other tools `command` may be a verb. */
const SHELL = /sh$|shell|^command_execution$/i;

/** The fields in which shell tools name the folder of a command. */
const FOLDERS = ['directory', 'dir_path', 'workdir', 'cwd'] as const;

/** White space at an end, two of it, or another one than a space. */
const IS_UNFOLDED = /^\s|\s\s|[^\S ]|\s$/;

function shellCommand(tool: string, input: Readonly<Record<string, unknown>>): string | null {
  const { command } = input;
  if (typeof command !== 'string' || !SHELL.test(tool)) return null;
  // Nearly no command needs it, and there may be thousands of them.
  return IS_UNFOLDED.test(command) ? command.replace(/\s+/g, ' ').trim() : command;
}

function inOrder(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns 53 bits, which are all that a whole number can have: the text itself may be large, and is not kept. */
function hashOf(text: string): number {
  let low = 0x2c1b3c6d;
  let high = 0x297a2d39;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul((high ^ code) + (high >>> 15), 0x85ebca6b);
  }
  return (mixed(high) & 0x1fffff) * 2 ** 32 + mixed(low);
}

/** Spreads every bit of a half over all of its bits. */
function mixed(half: number): number {
  let bits = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

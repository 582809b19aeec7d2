import { isObject } from '../text/is-object.ts';

/**
 * Returns a number that is the same for calls of the same tool with the same input, in any order of the fields. For a
 * shell tool, only the command (with its white space folded) and the folder count: agents describe a command in new
 * words each time.
 */
export function callKey(tool: string, input: Readonly<Record<string, unknown>> | null): number {
  const command = input === null ? null : shellCommand(tool, input);
  // The same command in another folder is another call.
  const what = command === null ? input : [command, ...FOLDERS.map((name) => input?.[name])];
  return hashOf(JSON.stringify([tool, what], inOrder));
}

/** Matches the names of tools that run shell commands. In other tools, the field `command` can mean something else. */
const SHELL = /sh$|shell|^command_execution$/i;

/** The input fields in which shell tools name the folder of a command. */
const FOLDERS = ['directory', 'dir_path', 'workdir', 'cwd'] as const;

/** Matches white space at either end, two white-space characters in a row, or one that is not a space. */
const IS_UNFOLDED = /^\s|\s\s|[^\S ]|\s$/;

function shellCommand(tool: string, input: Readonly<Record<string, unknown>>): string | null {
  const { command } = input;
  if (typeof command !== 'string' || !SHELL.test(tool)) return null;
  // Hardly any command has white space to fold, and there may be thousands of commands.
  return IS_UNFOLDED.test(command) ? command.replace(/\s+/g, ' ').trim() : command;
}

function inOrder(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns a hash of 53 bits, the most that a number can hold. It is kept instead of the text, which may be large. */
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

/** Mixes the 32 bits of one half of the hash, so that each bit influences all others. */
function mixed(half: number): number {
  let bits = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

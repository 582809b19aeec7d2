/** A hash in two halves, of 32 and 21 bits: together they fill the integers of a number. */
interface Hash {
  low: number;
  high: number;
}

/**
 * Returns a number that is the same for the same call: tool and input, in any order of the fields. Of a
 * shell tool only the command and its folder count, with the white space of the command folded: an agent describes a command in new
 * words each time. Reads the input once and keeps nothing of it.
 */
export function callKey(tool: string, input: Readonly<Record<string, unknown>> | null): number {
  const hash: Hash = { low: 0x2c1b3c6d, high: 0x297a2d39 };
  addText(hash, tool);
  const command = input === null ? null : shellCommand(tool, input);
  addValue(hash, command ?? input);
  // The same command in another folder is another call.
  if (command !== null) for (const name of FOLDERS) addValue(hash, input?.[name]);
  return (mixed(hash.high) & 0x1fffff) * 2 ** 32 + mixed(hash.low);
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

// Every value begins with its type, and a text and a list with its length, so that no two inputs read alike.
function addValue(hash: Hash, value: unknown): void {
  addText(hash, Array.isArray(value) ? 'array' : typeof value);
  if (Array.isArray(value)) {
    addNumber(hash, value.length);
    for (const item of value) addValue(hash, item);
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    addNumber(hash, fields.length);
    for (const [name, field] of fields) {
      addText(hash, name);
      addValue(hash, field);
    }
  } else {
    addText(hash, String(value));
  }
}

function addText(hash: Hash, text: string): void {
  addNumber(hash, text.length);
  let { low, high } = hash;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul((high ^ code) + (high >>> 15), 0x85ebca6b);
  }
  hash.low = low;
  hash.high = high;
}

function addNumber(hash: Hash, value: number): void {
  hash.low = Math.imul(hash.low ^ value, 0x01000193);
  hash.high = Math.imul((hash.high ^ value) + (hash.high >>> 15), 0x85ebca6b);
}

/** Spreads every bit of a half over all of its bits. */
function mixed(half: number): number {
  let bits = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

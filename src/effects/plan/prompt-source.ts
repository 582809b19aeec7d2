import type { PromptSource } from '../../loop/ports.ts';
import { MB, readWithin } from '../files/bounded-read.ts';
import { errorCode } from '../files/write-file.ts';

/** The longest prompt: `claude` itself refuses standard input over 10 MB. */
export const PROMPT_MAX_BYTES = MB;

/** A prompt that never changes. */
export function fixedPrompt(bytes: Uint8Array): PromptSource {
  return { read: async () => bytes };
}

/**
 * A prompt file that is read again each time, so that it can be edited while the loop runs. If it is
 * gone, empty or too long by then, `warn` says so and the last text is used.
 */
export function promptFile(
  file: string,
  first: Uint8Array,
  warn: (sentence: string) => void,
): PromptSource {
  let last = first;
  return {
    async read() {
      const found = readPrompt(file);
      if (typeof found !== 'string') last = found;
      else warn(`The prompt file ${file} ${found} now; the last text of it is used.`);
      return last;
    },
  };
}

/** Returns the prompt in a file, or what is wrong with it. Does not read a file that is too long. */
function readPrompt(file: string): Uint8Array | string {
  try {
    const bytes = readWithin(file, PROMPT_MAX_BYTES);
    return promptProblem(bytes) ?? bytes;
  } catch (error) {
    return errorCode(error) === 'EFBIG' ? 'is over the limit of 1 MB' : 'cannot be read';
  }
}

/** Returns what is wrong with a prompt, as a verb phrase; null if nothing is. */
export function promptProblem(bytes: Uint8Array): string | null {
  if (bytes.length > PROMPT_MAX_BYTES) {
    return `is ${bytes.length} bytes long, over the limit of ${PROMPT_MAX_BYTES} (1 MB)`;
  }
  return isBlank(bytes) ? 'is empty' : null;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

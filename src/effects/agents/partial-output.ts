import { createTailText, shortLine } from '../files/bounded-text.ts';

const MAX_BYTES = 64 * 1024;
const MAX_CALLS = 10;
const MAX_CALL_CHARS = 300;

/** Stores the end of the agent's texts and its last ten tool calls, for the next attempt if this one is cut short. */
export function createPartialOutput() {
  const texts = createTailText(MAX_BYTES, '');
  const calls: string[] = [];
  let isEmpty = true;
  return {
    /** `continues`: the text is a further chunk of the last message. */
    addText: (text: string, continues = false): void => {
      texts.append(continues || isEmpty ? text : `\n\n${text}`);
      isEmpty = false;
    },
    addCall: (tool: string, target: string): void => {
      calls.push(shortLine(`[tool] ${tool}${target === '' ? '' : `: ${target}`}`, MAX_CALL_CHARS));
      if (calls.length > MAX_CALLS) calls.shift();
    },
    /** Returns texts, then calls such as `[tool] Bash: npm test`; at most 64 KiB of UTF-8 in all. */
    read: (): string => {
      if (calls.length === 0) return texts.read();
      const list = calls.join('\n');
      // The calls are short and recent, so the texts are cut if there is not enough space.
      const text = texts.read(MAX_BYTES - Buffer.byteLength(list) - 2);
      return text === '' ? list : `${text}\n\n${list}`;
    },
  };
}

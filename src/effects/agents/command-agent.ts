import { StringDecoder } from 'node:string_decoder';
import { NO_USAGE } from '../../core/agent/attempt.ts';
import { shellWords } from '../../core/settings/shell-words.ts';
import { firstLine, tailWithin } from '../files/bounded-text.ts';
import type { AgentKind, AgentOptions } from './agent.ts';

const MAX_MESSAGE_BYTES = 1024 * 1024;
const PARTIAL_BYTES = 64 * 1024;
/** The listener gets a longer line in parts. */
const LINE_CHARS = 64 * 1024;

/** Returns an agent that runs any program: the prompt is its input, its standard output the message. */
export function commandAgent({ settings, passthrough }: AgentOptions): AgentKind {
  const [program = '', ...args] = shellWords(settings.agentCommand ?? '') ?? [];
  return {
    program,
    folders: [],
    args: () => [...args, ...passthrough],
    examine: () => [],
    read(listener, signs) {
      const tail = createByteTail(MAX_MESSAGE_BYTES);
      const decoder = new StringDecoder();
      let unfinished = '';
      const show = (text: string): void => {
        if (text !== '') listener.text(text);
        const line = firstLine(text, 120);
        if (line !== '') listener.activity({ kind: 'text', text: line });
      };
      return {
        push(chunk) {
          signs.working();
          tail.push(chunk);
          // Shows whole lines, because half a credential would not be recognised and masked.
          unfinished += decoder.write(chunk);
          const lineEnd = Math.max(unfinished.lastIndexOf('\n'), unfinished.lastIndexOf('\r')) + 1;
          const shownTo = unfinished.length > LINE_CHARS ? unfinished.length : lineEnd;
          show(unfinished.slice(0, shownTo));
          unfinished = unfinished.slice(shownTo);
        },
        end: () => show(unfinished + decoder.end()),
        facts: () => {
          const message = tail.text();
          return {
            result: null,
            finalMessage: message.trim() === '' ? null : message,
            worked: message.trim() !== '',
            partialOutput: tailWithin(message, PARTIAL_BYTES),
            retries: [],
            endedInRetry: false,
            rateLimit: null,
            usage: NO_USAGE,
            sessionUsage: null,
            turns: 1,
            tools: 0,
            refused: [],
            stoppedSubAgents: 0,
            sessionId: null,
            skippedLines: 0,
            brokenLines: 0,
          };
        },
      };
    },
  };
}

/** Keeps the end of a byte stream within a bound; joins the chunks only when the text is read. */
function createByteTail(maxBytes: number): { push(chunk: Buffer): void; text(): string } {
  const chunks: Buffer[] = [];
  let held = 0;
  return {
    push(chunk) {
      // The caller may reuse the chunk's memory.
      chunks.push(Buffer.from(chunk));
      held += chunk.length;
      for (let first = chunks[0]; first && held - first.length >= maxBytes; first = chunks[0]) {
        held -= first.length;
        chunks.shift();
      }
    },
    text() {
      const bytes = Buffer.concat(chunks);
      let start = Math.max(0, bytes.length - maxBytes);
      // If the cut is inside a UTF-8 character, its remaining bytes are dropped.
      while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return bytes.toString('utf8', start);
    },
  };
}

import { StringDecoder } from 'node:string_decoder';
import { NO_USAGE } from '../../core/agent/attempt.ts';
import { shellWords } from '../../core/settings/shell-words.ts';
import { createTailText, firstLine, tailWithin } from '../files/bounded-text.ts';
import type { AgentKind, AgentOptions } from './agent.ts';
import { MAX_MESSAGE_BYTES } from './event-fields.ts';

const PARTIAL_BYTES = 64 * 1024;
/** A longer line is passed to the listener in parts. */
const LINE_CHARS = 64 * 1024;

/** Returns an agent that runs any program: its standard input is the prompt, and its standard output the message. */
export function commandAgent({ settings, passthrough }: AgentOptions): AgentKind {
  const [program = '', ...args] = shellWords(settings.agentCommand ?? '') ?? [];
  return {
    program,
    folders: [],
    args: () => [...args, ...passthrough],
    examine: () => [],
    read(listener, signs) {
      const tail = createTailText(MAX_MESSAGE_BYTES, '');
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
          const words = decoder.write(chunk);
          tail.append(words);
          // Shows whole lines, because half a credential would not be recognised and masked.
          unfinished += words;
          const lineEnd = Math.max(unfinished.lastIndexOf('\n'), unfinished.lastIndexOf('\r')) + 1;
          const shownTo = unfinished.length > LINE_CHARS ? unfinished.length : lineEnd;
          show(unfinished.slice(0, shownTo));
          unfinished = unfinished.slice(shownTo);
        },
        end() {
          const words = decoder.end();
          tail.append(words);
          show(unfinished + words);
        },
        facts: () => {
          const message = tail.read();
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

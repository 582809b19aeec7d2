import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { error, type Reply, text, USAGE } from './api-replies.ts';
import { type KindOf, type RecordedRequest, readRequest } from './api-requests.ts';
import { PATIENCE_MS } from './patience.ts';
import { createSender, type SendReply, sendError, sendJson } from './send-reply.ts';

/**
 * A stand-in for the Messages API on 127.0.0.1, scripted reply by reply, so that the real `claude` can be
 * driven without an account and without leaving the machine. It keeps every request, so that a test can say
 * what reached the API and what did not.
 */

/** The replies to the main calls, in order; or a function from the call and its number (from 0) to its reply. */
export type ApiScript =
  | readonly (Reply | readonly Reply[])[]
  | ((call: RecordedRequest, index: number) => Reply | Promise<Reply>);

/** A running stand-in. */
export interface MessagesApi {
  /** What goes into ANTHROPIC_BASE_URL. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** The requests that took from the script. */
  readonly mainCalls: readonly RecordedRequest[];
  /** How many main calls came after the script had run out; they were answered with a 400, which ends `claude`. */
  readonly overrun: number;
  /** Resolves once that many main calls have come in, rejects after `timeoutMs`. */
  untilMainCalls(count: number, timeoutMs?: number): Promise<void>;
  /** Whether these words were anywhere in any request body. */
  wasSent(words: string): boolean;
  close(): Promise<void>;
}

const SCRIPT_RAN_OUT = error(
  400,
  'invalid_request_error',
  'The script of this test has no further reply.',
);

/** Starts a stand-in that answers main calls by `script`, and every `side` call with `side`. */
export async function startMessagesApi(
  script: ApiScript,
  {
    side = text('A side answer.'),
    kindOf,
    send = createSender(),
  }: {
    readonly side?: Reply;
    /** Given with `send` for an API of another form. */
    readonly kindOf?: KindOf;
    readonly send?: SendReply;
  } = {},
): Promise<MessagesApi> {
  const requests: RecordedRequest[] = [];
  const mainCalls: RecordedRequest[] = [];
  const waiting = new Set<() => void>();
  const queue = typeof script === 'function' ? [] : script.flat();
  let overrun = 0;

  async function nextReply(call: RecordedRequest, index: number): Promise<Reply> {
    if (typeof script === 'function') return await script(call, index);
    const reply = queue[index];
    if (reply !== undefined) return reply;
    overrun += 1;
    return SCRIPT_RAN_OUT;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readRequest(request, kindOf);
    requests.push(call);
    switch (call.kind) {
      case 'main': {
        const index = mainCalls.push(call) - 1;
        for (const look of waiting) look();
        send(await nextReply(call, index), call, response);
        return;
      }
      case 'side':
        send(side, call, response);
        return;
      case 'count':
        sendJson(response, 200, { input_tokens: USAGE.input_tokens });
        return;
      case 'probe':
        response.writeHead(200).end();
        return;
      case 'stray':
        sendError(response, 404, 'not_found_error', 'Not found');
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      // A mistake in a test's own script: it must fail the test, not leave `claude` waiting.
      if (response.headersSent) response.destroy();
      else sendError(response, 400, 'script_error', String(cause));
    });
  });
  // A proxy request to any other host: noted, and refused.
  server.on('connect', (request, socket) => {
    const { url: path = '', headers } = request;
    requests.push({ kind: 'stray', method: 'CONNECT', path, headers, raw: '', body: null });
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    mainCalls,
    get overrun() {
      return overrun;
    },
    untilMainCalls: (count, timeoutMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `Expected ${count} main calls within ${timeoutMs} ms, found ${mainCalls.length}.`,
            ),
          );
        }, timeoutMs);
        function look(): void {
          if (mainCalls.length < count) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        }
        waiting.add(look);
        look();
      }),
    wasSent: (words) => {
      // Inside a JSON body the words stand escaped, as JSON.stringify would write them.
      const escaped = JSON.stringify(words).slice(1, -1);
      return requests.some(({ raw }) => raw.includes(words) || raw.includes(escaped));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

import type { ServerResponse } from 'node:http';
import { type Block, type Reply, USAGE } from './api-replies.ts';
import type { RecordedRequest } from './api-requests.ts';

/** A block as it goes out: a tool call has an id by then. */
type NumberedBlock = Block & { readonly id?: string };

interface WholeMessage {
  readonly content: readonly NumberedBlock[];
  readonly stop_reason: string;
  readonly usage: typeof USAGE;
}

/** Sends a reply, as events where the request asked for a stream. Its messages and tool calls are numbered through. */
export type SendReply = (reply: Reply, call: RecordedRequest, response: ServerResponse) => void;

/** A sender whose numbers begin at 1. */
export function createSender(): SendReply {
  let messages = 0;
  let toolCalls = 0;

  function numbered(block: Block): NumberedBlock {
    if (block.type !== 'tool_use') return block;
    toolCalls += 1;
    return { ...block, id: `toolu_${String(toolCalls).padStart(4, '0')}` };
  }

  function asMessage(blocks: readonly Block[], model: string): WholeMessage {
    messages += 1;
    const message = {
      id: `msg_${String(messages).padStart(4, '0')}`,
      type: 'message',
      role: 'assistant',
      model,
      content: blocks.map(numbered),
      stop_reason: blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: USAGE,
    };
    return message;
  }

  return (reply, { body }, response) => {
    switch (reply.kind) {
      case 'hung':
        return;
      case 'dropped':
        response.destroy();
        return;
      case 'error':
        sendError(response, reply.status, reply.type, reply.message, reply.headers);
        return;
      case 'message': {
        const message = asMessage(reply.blocks, body?.model ?? 'unknown');
        if (body?.stream === true) sendStream(response, message, reply.headers);
        else sendJson(response, 200, message, reply.headers);
      }
    }
  };
}

/** An error in the form of the API. */
export function sendError(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, { type: 'error', error: { type, message } }, headers);
}

/** A whole answer. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(value));
}

/** The server-sent events of a message, in the order in which the API sends them. */
function sendStream(
  response: ServerResponse,
  message: WholeMessage,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    ...headers,
  });
  const event = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const { content, stop_reason, usage } = message;
  event('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  });
  content.forEach((block, index) => {
    const [start, deltas] = parts(block);
    event('content_block_start', { index, content_block: start });
    for (const delta of deltas) event('content_block_delta', { index, delta });
    event('content_block_stop', { index });
  });
  event('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  });
  event('message_stop', {});
  response.end();
}

/** How a block begins, and what is then added to it. */
function parts(block: NumberedBlock): readonly [start: object, deltas: readonly object[]] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: '' }, [{ type: 'text_delta', text: block.text }]];
    case 'thinking':
      return [
        { type: 'thinking', thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: 'c2ln' },
        ],
      ];
    case 'tool_use':
      return [
        { type: 'tool_use', id: block.id, name: block.name, input: {} },
        [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }],
      ];
  }
}

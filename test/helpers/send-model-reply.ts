import type { ServerResponse } from 'node:http';
import { type Block, USAGE } from './api-replies.ts';
import type { KindOf } from './api-requests.ts';
import type { SendReply } from './send-reply.ts';

/*
 * The scripted replies in the forms of the APIs that the other agents talk to: the Responses API (codex),
 * Gemini's, and chat completions (opencode, qwen, copilot). The path of a request tells which.
 */

/** How many of the input tokens of each reply the service had in its cache. */
const CACHED_TOKENS = 400;

const MODEL_PATH = /\/responses$|:(streamGenerateContent|generateContent)$|\/chat\/completions$/;

/** An agent calls with tools; what it asks for itself, such as a title, comes without. */
export const kindOfModelCall: KindOf = (method, path, body) => {
  if (!path.startsWith('/')) return 'stray';
  const { pathname } = new URL(path, 'http://127.0.0.1');
  if (method !== 'POST' || body === null || !MODEL_PATH.test(pathname)) return 'stray';
  return body.tools.length > 0 && !isMemoryExtraction(body.messages) ? 'main' : 'side';
};

/** After an answer, qwen may ask the model what to remember. */
function isMemoryExtraction(messages: readonly unknown[]): boolean {
  return /memory extraction/i.test(JSON.stringify(messages[0] ?? null));
}

/** Returns a sender whose tool calls are numbered from 1. */
export function createModelSender(): SendReply {
  let calls = 0;
  return (reply, { path }, response) => {
    switch (reply.kind) {
      case 'hung':
        return;
      case 'dropped':
        response.destroy();
        return;
      case 'error': {
        const { status, type, message, headers } = reply;
        const error = { message, type, code: path.includes(':') ? status : type, status: type };
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify({ error: { ...error, ...reply.fields } }));
        return;
      }
      case 'message': {
        const blocks = reply.blocks.map((block) => {
          calls += 1;
          return { ...block, id: `call_${calls}` };
        });
        if (path.includes(':')) sendGemini(blocks, path, response);
        else if (path.endsWith('/responses')) sendResponses(blocks, response);
        else sendChat(blocks, response);
      }
    }
  };
}

type Numbered = Block & { readonly id: string };

function stream(response: ServerResponse, events: readonly object[], last = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const type = 'type' in event ? `event: ${event.type}\n` : '';
    response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(last);
}

function sendResponses(blocks: readonly Numbered[], response: ServerResponse): void {
  const output = blocks.map((block) =>
    block.type === 'tool_use'
      ? {
          ...{ type: 'function_call', id: `fc_${block.id}`, call_id: block.id },
          ...{ name: block.name, arguments: JSON.stringify(block.input), status: 'completed' },
        }
      : {
          ...{ type: 'message', id: `msg_${block.id}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: wordsOf(block), annotations: [] }],
        },
  );
  const usage = {
    input_tokens: USAGE.input_tokens,
    input_tokens_details: { cached_tokens: CACHED_TOKENS },
    output_tokens: USAGE.output_tokens,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: USAGE.input_tokens + USAGE.output_tokens,
  };
  stream(response, [
    { type: 'response.created', response: { id: 'resp_1' } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output, usage } },
  ]);
}

function sendGemini(blocks: readonly Numbered[], path: string, response: ServerResponse): void {
  const parts = blocks.map((block) =>
    block.type === 'tool_use'
      ? { functionCall: { name: block.name, args: block.input } }
      : { text: wordsOf(block) },
  );
  const whole = (some: readonly object[]) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: some }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: USAGE.input_tokens,
      cachedContentTokenCount: CACHED_TOKENS,
      candidatesTokenCount: USAGE.output_tokens,
      totalTokenCount: USAGE.input_tokens + USAGE.output_tokens,
    },
  });
  if (path.includes(':streamGenerateContent')) {
    stream(response, [
      ...parts.slice(0, -1).map((part) => ({
        candidates: [{ index: 0, content: { role: 'model', parts: [part] } }],
      })),
      whole(parts.slice(-1)),
    ]);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(whole([{ text: '{}' }])));
}

function sendChat(blocks: readonly Numbered[], response: ServerResponse): void {
  const tools = blocks.filter((block) => block.type === 'tool_use');
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ id: 'chat_1', object: 'chat.completion.chunk', created: 0, model: 'm1' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const deltas = blocks.map((block) =>
    block.type === 'tool_use'
      ? {
          tool_calls: [
            {
              ...{ index: tools.indexOf(block), id: block.id, type: 'function' },
              function: { name: block.name, arguments: JSON.stringify(block.input) },
            },
          ],
        }
      : { content: wordsOf(block) },
  );
  const usage = {
    prompt_tokens: USAGE.input_tokens,
    completion_tokens: USAGE.output_tokens,
    total_tokens: USAGE.input_tokens + USAGE.output_tokens,
    prompt_tokens_details: { cached_tokens: CACHED_TOKENS },
  };
  stream(
    response,
    [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, tools.length > 0 ? 'tool_calls' : 'stop'),
      { ...chunk({}), choices: [], usage },
    ],
    'data: [DONE]\n\n',
  );
}

function wordsOf(block: Exclude<Block, { type: 'tool_use' }>): string {
  return block.type === 'text' ? block.text : block.thinking;
}

import { amountAt, type JsonObject, objectAt, stringAt } from '../files/json-fields.ts';
import { contentBlocks, readDenials, tokensAt } from './event-fields.ts';
import { jsonAgent } from './json-agent.ts';
import type { Sink } from './sink.ts';

const MODES: Readonly<Record<string, string>> = { acceptEdits: 'auto-edit' };

/** The agent that runs `qwen -o stream-json` and reads its events, which have the same form as claude's events. */
export const qwenAgent = jsonAgent({
  program: 'qwen',
  args({ resumeSession }, { settings, passthrough }) {
    const { allowedTools, model, permissionMode, dangerouslySkipPermissions } = settings;
    const mode = permissionMode === null ? null : (MODES[permissionMode] ?? permissionMode);
    return [
      ...['-o', 'stream-json'],
      ...(model === null ? [] : ['-m', model]),
      ...(dangerouslySkipPermissions ? ['--yolo'] : mode === null ? [] : ['--approval-mode', mode]),
      ...(allowedTools.length > 0 ? [`--allowed-tools=${allowedTools.join(',')}`] : []),
      ...(resumeSession === null ? [] : ['-r', resumeSession]),
      ...passthrough,
    ];
  },
  event(event, say) {
    const message = objectAt(event, 'message') ?? {};
    switch (stringAt(event, 'type')) {
      case 'system':
        if (stringAt(event, 'subtype') === 'init') say.session(stringAt(event, 'session_id'));
        // qwen reports a retry only after an answer that was cut off, not while a service fails.
        if (stringAt(event, 'subtype') === 'retry') say.retry({ error: 'an answer was cut off' });
        return;
      case 'assistant':
        readMessage(message, stringAt(event, 'parent_tool_use_id'), say);
        return;
      case 'user':
        for (const block of contentBlocks(message)) {
          if (stringAt(block, 'type') !== 'tool_result') continue;
          say.toolEnd(
            stringAt(block, 'tool_use_id'),
            block.is_error === true ? 'failed' : 'succeeded',
          );
        }
        return;
      case 'result':
        readReport(event, say);
        return;
    }
  },
});

/** qwen also prints an error of its service as a message, which is not a message of the model. */
const ERROR_MESSAGE = /^\[API Error: /;

/** Reads a message. `by`: the call that started the sub-agent; null for the main agent. */
function readMessage(message: JsonObject, by: string | null, say: Sink): void {
  const usage = objectAt(message, 'usage') ?? {};
  const cached = amountAt(usage, 'cache_read_input_tokens');
  say.used(amountAt(usage, 'input_tokens') - cached + amountAt(usage, 'output_tokens'));
  for (const block of contentBlocks(message)) {
    switch (stringAt(block, 'type')) {
      case 'tool_use':
        say.toolStart(
          stringAt(block, 'id'),
          stringAt(block, 'name') ?? 'unknown',
          objectAt(block, 'input'),
          by,
        );
        break;
      case 'text': {
        const text = stringAt(block, 'text') ?? '';
        if (by === null && !ERROR_MESSAGE.test(text)) say.text(text);
        break;
      }
      case 'thinking':
        if (by === null) say.thinking();
    }
  }
}

function readReport(event: JsonObject, say: Sink): void {
  // Here, the input tokens already include the cached ones.
  say.usage(tokensAt(event, 'usage'), 'session');
  for (const { id, ...call } of readDenials(event)) say.refused(id, call);
  const words = stringAt(event, 'result');
  if (event.is_error === true || stringAt(event, 'subtype') !== 'success') {
    const message = stringAt(objectAt(event, 'error') ?? {}, 'message');
    say.error(message ?? words ?? stringAt(event, 'subtype') ?? '', null, true);
    return;
  }
  // The report's own text is the final message, even if it is empty.
  say.result(words);
}

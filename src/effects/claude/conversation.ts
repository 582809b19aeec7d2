import type { RefusedTool, Usage } from '../../core/agent/attempt.ts';
import { contentBlocks, MAX_MESSAGE_BYTES, nameAt, toolCall } from '../agents/event-fields.ts';
import { createPartialOutput } from '../agents/partial-output.ts';
import { createTailText, firstLine } from '../files/bounded-text.ts';
import { type JsonObject, objectAt, stringAt } from '../files/json-fields.ts';
import { isFromSubAgent } from './stream-events.ts';
import { createToolLedger } from './tool-ledger.ts';
import { createUsageMeter } from './usage-meter.ts';

const MAX_ACTIVITY_CHARS = 120;

/** One step of the agent. The texts can contain control characters: remove them before use. */
type ClaudeActivity =
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  /** `text` is the first line of a message, at most 120 characters. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking' };

export interface ConversationListeners {
  /** Called for each activity of the main agent, and for the tool calls of sub-agents. */
  readonly onActivity?: ((activity: ClaudeActivity) => void) | undefined;
  /** Called with each complete text block of the main agent. */
  readonly onText?: ((text: string) => void) | undefined;
}

interface Conversation {
  readonly readAssistant: (event: JsonObject) => void;
  readonly readToolResults: (event: JsonObject) => void;
  /** Reads from a `result` event which tool calls were refused and how many sub-agents were stopped. */
  /** Reads a `system/permission_denied` event. */
  readonly readDenial: (event: JsonObject) => void;
  readonly readReport: (event: JsonObject) => void;
  /** Returns the last 1 MiB of text in the main agent's last message; null if it has no text. */
  readonly lastMessage: () => string | null;
  readonly partialOutput: () => string;
  readonly usage: () => Usage;
  readonly refused: () => readonly RefusedTool[];
  /** Reads from a `system/task_…` event that a sub-agent has started or ended. */
  readonly readSubAgent: (event: JsonObject) => void;
  readonly stoppedSubAgents: () => number;
  /** Returns the number of messages from the main agent. */
  readonly turns: () => number;
  /** Returns the number of tool calls, including those of sub-agents. */
  readonly tools: () => number;
}

/**
 * Collects messages, tool calls and tokens from the events of `claude`. Counts the tool calls and
 * tokens of sub-agents, but ignores their texts.
 */
export function createConversation(listeners: ConversationListeners): Conversation {
  const partial = createPartialOutput();
  const meter = createUsageMeter();
  const ledger = createToolLedger();
  let message = newMessage(null);
  let turns = 0;
  let tools = 0;

  const readText = (text: string): void => {
    if (text.trim() === '') return;
    message.text.append(text);
    partial.addText(text);
    listeners.onText?.(text);
    listeners.onActivity?.({ kind: 'text', text: firstLine(text, MAX_ACTIVITY_CHARS) });
  };

  const readToolUse = (block: JsonObject, ofMainAgent: boolean): void => {
    const id = nameAt(block, 'id');
    const input = objectAt(block, 'input');
    const call = toolCall(nameAt(block, 'name') ?? 'unknown', input);
    const { tool, target } = call;
    tools += 1;
    if (id !== null) ledger.called(id, call, input);
    if (ofMainAgent) partial.addCall(tool, target);
    listeners.onActivity?.({ kind: 'tool', tool, target });
  };

  return {
    readAssistant: (event) => {
      const body = objectAt(event, 'message');
      if (body === null) return;
      const ofMainAgent = !isFromSubAgent(event);
      const id = nameAt(body, 'id');
      const usage = objectAt(body, 'usage');
      if (usage !== null) meter.add(id, usage);
      // `claude` writes one event for each content block of a message, all with the same id.
      if (ofMainAgent && (id === null || id !== message.id)) {
        message = newMessage(id);
        turns += 1;
      }
      for (const block of contentBlocks(body)) {
        const type = stringAt(block, 'type');
        if (type === 'tool_use') readToolUse(block, ofMainAgent);
        else if (!ofMainAgent) continue;
        else if (type === 'text') readText(stringAt(block, 'text') ?? '');
        else if (type === 'thinking') listeners.onActivity?.({ kind: 'thinking' });
      }
    },
    readToolResults: (event) => {
      const body = objectAt(event, 'message');
      if (body === null) return;
      for (const block of contentBlocks(body)) {
        const id = nameAt(block, 'tool_use_id');
        if (stringAt(block, 'type') !== 'tool_result' || id === null) continue;
        ledger.answered(id, block.is_error === true);
      }
    },
    readDenial: ledger.readDenial,
    readReport: ledger.readReport,
    lastMessage: () => {
      const text = message.text.read();
      return text === '' ? null : text;
    },
    partialOutput: partial.read,
    usage: meter.read,
    refused: ledger.refused,
    readSubAgent: ledger.readSubAgent,
    stoppedSubAgents: ledger.stoppedSubAgents,
    turns: () => turns,
    tools: () => tools,
  };
}

function newMessage(id: string | null) {
  return { id, text: createTailText(MAX_MESSAGE_BYTES, '\n') };
}

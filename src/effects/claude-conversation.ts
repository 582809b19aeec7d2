import type { RefusedTool, Usage } from '../core/attempt.ts';
import { createTailText, firstLine } from './bounded-text.ts';
import {
  contentBlocks,
  describeTarget,
  isFromSubAgent,
  MAX_MESSAGE_BYTES,
  nameAt,
  readDenials,
} from './claude-events.ts';
import { type JsonObject, objectAt, stringAt } from './json-fields.ts';
import { createPartialOutput } from './partial-output.ts';
import { createToolLedger } from './refused-tools.ts';
import { createSubAgentLedger } from './sub-agents.ts';
import { createUsageMeter } from './usage-meter.ts';

const MAX_ACTIVITY_CHARS = 120;

/** What the agent is doing right now. Texts are raw: whoever shows them takes control characters out. */
type ClaudeActivity =
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  /** `text` is the first line of what it said, at most 120 characters. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking' };

/** Who listens to the conversation. */
export interface ConversationListeners {
  /** Of the main agent everything, of sub-agents the tool calls. */
  readonly onActivity?: ((activity: ClaudeActivity) => void) | undefined;
  /** Each whole text block of the main agent. */
  readonly onText?: ((text: string) => void) | undefined;
}

interface Conversation {
  readonly readAssistant: (event: JsonObject) => void;
  readonly readToolResults: (event: JsonObject) => void;
  /** Reads from a `result` event which calls were refused. */
  readonly readDenials: (event: JsonObject) => void;
  /** The texts of the main agent's last message, its end within 1 MiB; null if it had none. */
  readonly lastMessage: () => string | null;
  readonly partialOutput: () => string;
  readonly usage: () => Usage;
  readonly refused: () => readonly RefusedTool[];
  /** Reads from a `system/task_…` event what became of a sub-agent, and from a `result` of all. */
  readonly readSubAgent: (kind: string, event: JsonObject) => void;
  readonly stoppedSubAgents: () => number;
  /** Messages of the main agent. */
  readonly turns: () => number;
  /** Tool calls, those of sub-agents included. */
  readonly tools: () => number;
}

/**
 * Follows what agent and tools say to each other. A sub-agent's words belong to nobody: only its
 * tool calls and its tokens count.
 */
export function createConversation(listeners: ConversationListeners): Conversation {
  const partial = createPartialOutput();
  const meter = createUsageMeter();
  const ledger = createToolLedger();
  const subAgents = createSubAgentLedger();
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
    const tool = nameAt(block, 'name') ?? 'unknown';
    const input = objectAt(block, 'input');
    const target = describeTarget(input);
    tools += 1;
    subAgents.called(id, input);
    if (id !== null) ledger.called(id, tool);
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
      // One message comes as one event per content block, all with its id.
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
    readDenials: (event) => ledger.denied(readDenials(event)),
    lastMessage: () => {
      const text = message.text.read();
      return text === '' ? null : text;
    },
    partialOutput: partial.read,
    usage: meter.read,
    refused: ledger.refused,
    readSubAgent: (kind, event) => {
      if (kind === 'system/task_started') subAgents.started(event);
      else if (kind === 'result') subAgents.reported(event);
      else subAgents.changed(event);
    },
    stoppedSubAgents: subAgents.stopped,
    turns: () => turns,
    tools: () => tools,
  };
}

function newMessage(id: string | null) {
  return { id, text: createTailText(MAX_MESSAGE_BYTES, '\n') };
}

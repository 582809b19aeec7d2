import type { Activity } from '../../core/machine/events.ts';
import type { ReaderListener } from '../agents/agent.ts';
import { contentBlocks, MAX_MESSAGE_BYTES, nameAt, toolCall } from '../agents/event-fields.ts';
import { createPartialOutput } from '../agents/partial-output.ts';
import { createTailText, firstLine } from '../files/bounded-text.ts';
import { type JsonObject, objectAt, stringAt } from '../files/json-fields.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import { subAgentOf } from './stream-events.ts';
import { createToolLedger } from './tool-ledger.ts';
import { createUsageMeter } from './usage-meter.ts';

const MAX_ACTIVITY_CHARS = 120;

/**
 * Collects messages, tool calls and tokens from the events of `claude`. Counts the tool calls and
 * tokens of sub-agents, but ignores their texts.
 */
export function createConversation(
  listener: ReaderListener,
  signs: Pick<AgentSigns, 'working'>,
  ledger = createToolLedger(),
) {
  const partial = createPartialOutput();
  const meter = createUsageMeter();
  let message = newMessage(null);
  let turns = 0;
  let tools = 0;
  let working = 0;

  const does = (activity: Activity): void => {
    signs.working();
    listener.activity(activity);
  };

  const readText = (text: string): void => {
    if (text.trim() === '') return;
    message.text.append(text);
    message.isLast = true;
    partial.addText(text);
    listener.text(text);
    does({ kind: 'text', text: firstLine(text, MAX_ACTIVITY_CHARS) });
  };

  const readToolUse = (block: JsonObject, by: string | null): void => {
    const id = nameAt(block, 'id');
    const input = objectAt(block, 'input');
    const call = toolCall(nameAt(block, 'name') ?? 'unknown', input);
    const { tool, target } = call;
    tools += 1;
    message.isLast = false;
    if (id !== null) {
      ledger.called(id, call, input);
      listener.did({ kind: 'called', id, by, tool, input });
    }
    if (by === null) partial.addCall(tool, target);
    does({ kind: 'tool', tool, target });
  };

  return {
    readAssistant: (event: JsonObject): void => {
      const body = objectAt(event, 'message');
      if (body === null) return;
      const by = subAgentOf(event);
      const ofMainAgent = by === null;
      const id = nameAt(body, 'id');
      const usage = objectAt(body, 'usage');
      if (usage !== null) {
        const tokens = meter.add(id, usage);
        if (tokens > 0) listener.did({ kind: 'used', tokens });
      }
      // `claude` writes one event for each content block of a message, all with the same id.
      if (ofMainAgent && (id === null || id !== message.id)) {
        message = newMessage(id);
        turns += 1;
      }
      for (const block of contentBlocks(body)) {
        const type = stringAt(block, 'type');
        if (type === 'tool_use') readToolUse(block, by);
        else if (!ofMainAgent) continue;
        else if (type === 'text') readText(stringAt(block, 'text') ?? '');
        else if (type === 'thinking') does({ kind: 'thinking' });
      }
    },
    readToolResults: (event: JsonObject): void => {
      message.isLast = false;
      const body = objectAt(event, 'message');
      if (body === null) return;
      for (const block of contentBlocks(body)) {
        const id = nameAt(block, 'tool_use_id');
        if (stringAt(block, 'type') !== 'tool_result' || id === null) continue;
        const isError = block.is_error === true;
        ledger.answered(id, isError);
        const isRefused = isError && (ledger.isDenied(id) || isRefusal(stringAt(block, 'content')));
        const how = isRefused ? 'refused' : isError ? 'failed' : 'succeeded';
        listener.did({ kind: 'answered', id, how });
      }
    },
    /** Call this after each report: text from before a report is no closing message of a later one. */
    reported: (): void => {
      message.isLast = false;
    },
    /** Returns the last 1 MiB of text in the main agent's last message; null if it has no text. */
    lastMessage: (): string | null => {
      const text = message.text.read();
      return text === '' ? null : text;
    },
    /** As `lastMessage`, but empty if anything followed the message's text, which then is not the agent's last word. */
    closingMessage: (): string => (message.isLast ? message.text.read() : ''),
    partialOutput: partial.read,
    usage: meter.read,
    /** Reads from a `system/task_…` event that a sub-agent has started or ended. */
    readSubAgent: (event: JsonObject): void => {
      const started = ledger.readSubAgent(event);
      if (started !== null) listener.did({ kind: 'sub-agent-started', id: started });
      const now = ledger.workingSubAgents();
      // Shell commands have such events, too, which do not change the number.
      if (now !== working) listener.activity({ kind: 'sub-agents', working: now });
      working = now;
    },
    /** Returns the number of messages from the main agent. */
    turns: (): number => turns,
    /** Returns the number of tool calls, including those of sub-agents. */
    tools: (): number => tools,
  };
}

/** How older versions of `claude` answer a call without permission; newer versions write an event for it. */
const REFUSAL =
  /^(Claude requested permissions to |This command requires approval|Permission to use |\S+ in '.*' was blocked\. For security, )/;

function isRefusal(answer: string | null): boolean {
  return answer !== null && REFUSAL.test(answer);
}

function newMessage(id: string | null) {
  return { id, text: createTailText(MAX_MESSAGE_BYTES, '\n'), isLast: false };
}

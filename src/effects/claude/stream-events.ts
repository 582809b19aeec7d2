import type {
  LostServer,
  RateLimitFacts,
  ResultFacts,
  RetryFacts,
} from '../../core/agent/attempt.ts';
import { contentBlocks, MAX_MESSAGE_BYTES, nameAt } from '../agents/event-fields.ts';
import { shortLine, tailWithin } from '../files/bounded-text.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';

const MAX_ERRORS = 20;
const MAX_ERROR_CHARS = 2000;
/** The year 5138: a larger number is not a time in seconds. */
const LAST_EPOCH_SECOND = 1e11;

/** Returns the kind of an event, such as `assistant` or `system/init`; null if it has no type. */
export function eventKind(event: JsonObject): string | null {
  const type = nameAt(event, 'type');
  if (type !== 'system') return type;
  const subtype = nameAt(event, 'subtype');
  return subtype === null ? type : `${type}/${subtype}`;
}

/** Reads a `system/api_retry` event. */
export function readRetry(event: JsonObject): RetryFacts {
  return {
    status: numberAt(event, 'error_status'),
    error: nameAt(event, 'error') ?? '',
    attempt: numberAt(event, 'attempt'),
    maxRetries: numberAt(event, 'max_retries'),
    delayMs: numberAt(event, 'retry_delay_ms'),
  };
}

/** Reads a `rate_limit_event`; returns null if it contains no status. */
export function readRateLimit(event: JsonObject): RateLimitFacts | null {
  const info = objectAt(event, 'rate_limit_info');
  const status = info === null ? null : nameAt(info, 'status');
  if (info === null || status === null) return null;
  return {
    status,
    resetsAt: instant(numberAt(info, 'resetsAt')),
    type: nameAt(info, 'rateLimitType'),
    utilization: numberAt(info, 'utilization'),
  };
}

function instant(epochSeconds: number | null): string | null {
  if (epochSeconds === null || epochSeconds <= 0 || epochSeconds > LAST_EPOCH_SECOND) return null;
  return new Date(epochSeconds * 1000).toISOString();
}

/** Why a model stops in the middle of its turn. Older versions of `claude` end there if the connection is lost. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['tool_use', 'pause_turn']);

/** Reads a `result` event. Without `is_error`, any subtype except `success` is an error. */
export function readResult(event: JsonObject): ResultFacts {
  const subtype = nameAt(event, 'subtype') ?? 'unknown';
  const isError = event.is_error;
  const text = stringAt(event, 'result');
  return {
    subtype,
    isError: typeof isError === 'boolean' ? isError : subtype !== 'success',
    apiErrorStatus: numberAt(event, 'api_error_status'),
    // The error code is in a separate message before the report.
    errorCode: null,
    text: text === null ? null : tailWithin(text, MAX_MESSAGE_BYTES),
    errors: stringsAt(event, 'errors')
      .slice(0, MAX_ERRORS)
      .map((error) => shortLine(error, MAX_ERROR_CHARS)),
    terminalReason: nameAt(event, 'terminal_reason'),
    numTurns: numberAt(event, 'num_turns'),
    isRefusal: event.stop_reason === 'refusal',
    // An answer that fits a schema is the call of a tool.
    isBrokenOff: UNFINISHED.has(event.stop_reason) && event.structured_output === undefined,
    isLocal: (event.local_command ?? false) !== false,
  };
}

/** Whether a message comes from the model. If a request fails, `claude` itself writes such a message. */
export function isFromModel(message: JsonObject): boolean {
  return stringAt(message, 'model') !== '<synthetic>';
}

/** How older versions of `claude` answer a call without permission; newer versions write an event for it. */
const REFUSAL =
  /^(Claude requested permissions to |This command requires approval|Permission to use |\S+ in '.*' was blocked\. For security, )/;

/** Whether the answer to a call says that the call was not allowed. */
export function isRefusal(answer: string | null): boolean {
  return answer !== null && REFUSAL.test(answer);
}

const MOST_SERVERS = 20;

/** Returns the MCP servers that failed to start or lack a login, from a `system/init` event. */
export function readLostServers(event: JsonObject): readonly LostServer[] {
  return objectsAt(event, 'mcp_servers')
    .flatMap((each) => {
      const server = nameAt(each, 'name');
      const status = nameAt(each, 'status');
      if (server === null || (status !== 'failed' && status !== 'needs-auth')) return [];
      return [{ server, status } as const];
    })
    .slice(0, MOST_SERVERS);
}

const HOOK_CHARS = 2_000;
const BLOCKED_BY_HOOK = /^(?:\w+ operation blocked by hook|Operation stopped by hook):\s*/;
const REPEATED_PROMPT = /\s*Original prompt: [\s\S]*$/;

/**
 * Returns the text of a hook that blocked the prompt, from a `system/informational` event; null if none did. In older
 * versions of `claude`, only `prevent_continuation` shows the block.
 */
export function readBlock(event: JsonObject): string | null {
  const outcome = nameAt(objectAt(event, 'prompt_submit_outcome') ?? {}, 'kind');
  const isBlock = outcome === 'blocked_by_hook' || outcome === 'stopped_by_hook';
  if (!isBlock && event.prevent_continuation !== true) return null;
  const words = stringAt(event, 'content') ?? '';
  const said = words.replace(REPEATED_PROMPT, '').replace(BLOCKED_BY_HOOK, '');
  return shortLine(said === '' ? words : said, HOOK_CHARS);
}

const STOP_HOOK = /^Stop hook feedback:\s*/;

/** Returns the text of a Stop hook that kept the agent from ending, from a `user` event; null for other events. */
export function readStopHook(event: JsonObject): string | null {
  for (const block of contentBlocks(objectAt(event, 'message') ?? {})) {
    const text = stringAt(block, 'text') ?? '';
    if (STOP_HOOK.test(text)) return shortLine(text.replace(STOP_HOOK, ''), HOOK_CHARS);
  }
  return null;
}

/** Returns the id of the call that started the sub-agent of an event; null for an event of the main agent. */
export function subAgentOf(event: JsonObject): string | null {
  return (event.parent_tool_use_id ?? null) === null
    ? null
    : (nameAt(event, 'parent_tool_use_id') ?? 'unknown');
}

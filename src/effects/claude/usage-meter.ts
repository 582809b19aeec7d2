import { addUsage, NO_USAGE, type Usage } from '../../core/agent/attempt.ts';
import { remember } from '../../core/agent/bounded-map.ts';
import { isObject } from '../../core/text/is-object.ts';
import { type JsonObject, numberAt, objectAt } from '../files/json-fields.ts';

/** Usage can be updated for this many messages. A message is complete long before 100 others follow. */
const REMEMBERED_MESSAGES = 100;

/** Costs and counts above these limits, or below zero, are ignored. */
const MOST_USD = 1e6;
const MOST_TOKENS = 1e12;

type Tokens = Omit<Usage, 'cost_usd'>;

/** The tokens of one message, and how many of its input tokens were read from the cache. */
interface MessageTokens extends Tokens {
  readonly cached: number;
}

const NO_TOKENS: MessageTokens = { input_tokens: 0, output_tokens: 0, cached: 0 };

/**
 * Adds up tokens from `assistant` events, for an attempt without a `result` event. `claude` writes one
 * event per content block, each with the usage of the whole message. Input tokens include those
 * written to and read from the prompt cache.
 */
export function createUsageMeter() {
  const counted = new Map<string, MessageTokens>();
  let input = 0;
  let output = 0;
  return {
    /** Adds usage, replacing earlier usage of the same message. Returns the new tokens that are not from the cache. */
    add: (messageId: string | null, usage: JsonObject): number => {
      const tokens = readTokens(usage);
      const before = (messageId === null ? undefined : counted.get(messageId)) ?? NO_TOKENS;
      const newInput = tokens.input_tokens - before.input_tokens;
      const newOutput = tokens.output_tokens - before.output_tokens;
      input += newInput;
      output += newOutput;
      if (messageId !== null) remember(counted, messageId, tokens, REMEMBERED_MESSAGES);
      return newInput + newOutput - (tokens.cached - before.cached);
    },
    /** The cost is 0, because `assistant` events contain no cost. */
    read: (): Usage => ({ cost_usd: 0, input_tokens: input, output_tokens: output }),
  };
}

/**
 * Returns the cost (in US dollars) and tokens (including cached input) of this `claude` process so far, from a `result`
 * event; null if the cost is missing. `previous` is the result for the event before, and `counted` the sum of the
 * messages, for an event without tokens. `modelUsage` is preferred: unlike `usage`, it includes sub-agents, as
 * `total_cost_usd` does. In newer versions, `modelUsage` and `total_cost_usd` also cover earlier processes of a resumed
 * session, and only `model_usage_since_last_result` contains what is new.
 */
export function readResultUsage(
  result: JsonObject,
  previous: Usage | null,
  counted: Usage,
): Usage | null {
  const news = modelsAt(result, 'model_usage_since_last_result');
  // It is empty, but there, after a refused request, which costs nothing.
  if (news !== null) {
    const cost = news.reduce((total, model) => total + (plausibleCost(model, 'costUSD') ?? 0), 0);
    return addUsage(previous ?? NO_USAGE, { cost_usd: cost, ...tokensOf(news) });
  }
  const cost = readCost(result);
  const models = modelsAt(result, 'modelUsage') ?? [];
  const tokens = models.length > 0 ? tokensOf(models) : readPlainUsage(result);
  return cost === null ? null : { ...(tokens ?? counted), cost_usd: cost };
}

/** Returns the cost in a `result` event, in US dollars; null if it is missing or implausible. */
export function readCost(result: JsonObject): number | null {
  return plausibleCost(result, 'total_cost_usd');
}

function plausibleCost(object: JsonObject, key: string): number | null {
  const cost = numberAt(object, key);
  return cost !== null && cost >= 0 && cost <= MOST_USD ? cost : null;
}

/** Returns the usage of each model; null if the field is missing. */
function modelsAt(result: JsonObject, key: string): readonly JsonObject[] | null {
  const models = objectAt(result, key);
  return models === null ? null : Object.values(models).filter(isObject);
}

function tokensOf(models: readonly JsonObject[]): Tokens {
  const sum = (key: string) => models.reduce((total, model) => total + countAt(model, key), 0);
  return {
    input_tokens:
      sum('inputTokens') + sum('cacheCreationInputTokens') + sum('cacheReadInputTokens'),
    output_tokens: sum('outputTokens'),
  };
}

function readPlainUsage(result: JsonObject): Tokens | null {
  const usage = objectAt(result, 'usage');
  if (usage === null) return null;
  const { input_tokens, output_tokens } = readTokens(usage);
  return { input_tokens, output_tokens };
}

function readTokens(usage: JsonObject): MessageTokens {
  const cached = countAt(usage, 'cache_read_input_tokens');
  const further = countAt(usage, 'input_tokens') + countAt(usage, 'cache_creation_input_tokens');
  return {
    input_tokens: further + cached,
    output_tokens: countAt(usage, 'output_tokens'),
    cached,
  };
}

function countAt(object: JsonObject, key: string): number {
  const count = numberAt(object, key) ?? 0;
  return Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS ? count : 0;
}

/** What a scripted Messages API can answer. */

/** One content block of a scripted answer. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | {
      readonly type: 'tool_use';
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

/** What one API call is answered with. */
export type Reply =
  /** A message of the model. It stops for tools if one of its blocks is a tool call. */
  | {
      readonly kind: 'message';
      readonly blocks: readonly Block[];
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** An API error with its HTTP status. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Added to the error itself. */
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** No answer at all, until the caller or the server goes. */
  | { readonly kind: 'hung' }
  /** The connection is cut without an answer: a network failure. */
  | { readonly kind: 'dropped' };

/** A message of one text block. */
export function text(words: string): Reply {
  return { kind: 'message', blocks: [{ type: 'text', text: words }] };
}

/** A message that thinks first and then, if told to, says something. */
export function thinking(thought: string, words = ''): Reply {
  const said: readonly Block[] = words === '' ? [] : [{ type: 'text', text: words }];
  return { kind: 'message', blocks: [{ type: 'thinking', thinking: thought }, ...said] };
}

/** A message that calls one tool, with some words before it if there are any. */
export function toolUse(name: string, input: Readonly<Record<string, unknown>>, words = ''): Reply {
  const said: readonly Block[] = words === '' ? [] : [{ type: 'text', text: words }];
  return { kind: 'message', blocks: [...said, { type: 'tool_use', name, input }] };
}

/** A message of several replies' blocks: `together(thinking('…'), toolUse('Bash', …))`. */
export function together(...replies: readonly Reply[]): Reply {
  return {
    kind: 'message',
    blocks: replies.flatMap((reply) => (reply.kind === 'message' ? reply.blocks : [])),
  };
}

/** An API error, such as `error(429, 'rate_limit_error', 'slow down')`. */
export function error(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  fields: Readonly<Record<string, unknown>> = {},
): Reply {
  return { kind: 'error', status, type, message, headers, fields };
}

/** The same message with HTTP headers of its own. */
export function withHeaders(reply: Reply, headers: Readonly<Record<string, string>>): Reply {
  return reply.kind === 'message' ? { ...reply, headers } : reply;
}

/**
 * The headers by which the API speaks of a plan's limit; `claude` heeds them only where it is logged in
 * with a plan (see `PLAN_LOGIN`), and turns them into a `rate_limit_event`.
 */
export function planLimitHeaders({
  status,
  type = 'five_hour',
  resetsAt,
  utilization = 1,
}: {
  readonly status: 'allowed' | 'allowed_warning' | 'rejected';
  readonly type?: 'five_hour' | 'seven_day' | 'seven_day_opus' | 'overage';
  /** Epoch seconds. */
  readonly resetsAt: number;
  /** 0 to 1. */
  readonly utilization?: number;
}): Readonly<Record<string, string>> {
  const limit = 'anthropic-ratelimit-unified';
  const window = type === 'five_hour' ? '5h' : '7d';
  return {
    [`${limit}-status`]: status,
    [`${limit}-reset`]: String(resetsAt),
    [`${limit}-representative-claim`]: type,
    [`${limit}-overage-status`]: 'rejected',
    [`${limit}-${window}-utilization`]: String(utilization),
    [`${limit}-${window}-reset`]: String(resetsAt),
    ...(status === 'allowed_warning' && { [`${limit}-${window}-surpassed-threshold`]: '0.9' }),
  };
}

/** An API call that is never answered. */
export function hang(): Reply {
  return { kind: 'hung' };
}

/** A connection that is cut without an answer. */
export function drop(): Reply {
  return { kind: 'dropped' };
}

/** The same reply, `times` times. */
export function many(reply: Reply, times: number): readonly Reply[] {
  return Array.from({ length: times }, () => reply);
}

/** The tokens of every scripted message; with any known model they cost more than nothing. */
export const USAGE = {
  input_tokens: 1000,
  output_tokens: 50,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
} as const;

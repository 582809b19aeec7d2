import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/**
 * What a request was for:
 * `main` a turn of the agent or of a sub-agent (it brings tools), the only kind that takes from the script;
 * `side` a call that `claude` makes for itself (it brings none: prompt hooks, the judge of the permission mode
 * `auto`, summaries of fetched pages), and also a turn under `--tools ""`;
 * `count` counting tokens; `probe` the `HEAD /` at the start; `stray` anything else, also whatever was on its
 * way to another host (see `loopbackEnv`).
 */
type RequestKind = 'main' | 'side' | 'count' | 'probe' | 'stray';

/** The parts of a request body that tests look at. */
interface RequestBody {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
}

/** One request as it came. */
export interface RecordedRequest {
  readonly kind: RequestKind;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body byte for byte, as text. */
  readonly raw: string;
  /** Null where the body was not a JSON object. */
  readonly body: RequestBody | null;
}

/** Tells what a request was for, by its method, its path and its body. */
export type KindOf = (method: string, path: string, body: RequestBody | null) => RequestKind;

/** Reads a request to its end. */
export async function readRequest(
  request: IncomingMessage,
  kindOf: KindOf = kindOfMessages,
): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString('utf8');
  const method = request.method ?? '';
  const path = request.url ?? '';
  const body = readBody(raw);
  return { kind: kindOf(method, path, body), method, path, headers: request.headers, raw, body };
}

function kindOfMessages(method: string, path: string, body: RequestBody | null): RequestKind {
  if (method === 'HEAD' && path === '/') return 'probe';
  // A whole address in place of a path: on its way to another host, through this one as its proxy.
  if (!path.startsWith('/')) return 'stray';
  const { pathname } = new URL(path, 'http://127.0.0.1');
  if (method !== 'POST') return 'stray';
  if (pathname === '/v1/messages/count_tokens') return 'count';
  if (pathname !== '/v1/messages' || body === null) return 'stray';
  return body.tools.length > 0 ? 'main' : 'side';
}

function readBody(raw: string): RequestBody | null {
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value !== 'object' || value === null) return null;
    const { model, stream, tools, ...rest } = value as Record<string, unknown>;
    // The Responses API calls them `input`, Gemini `contents`.
    const messages = rest.messages ?? rest.input ?? rest.contents;
    return {
      model: typeof model === 'string' ? model : '',
      stream: stream === true,
      messages: Array.isArray(messages) ? messages : [],
      tools: Array.isArray(tools) ? tools : [],
    };
  } catch {
    return null;
  }
}

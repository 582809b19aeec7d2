import { shellQuote } from '../../src/printed-command.ts';

/** What the scripted `claude` does in one call, played in the order of these fields. */
export interface Turn {
  /** It reads nothing from standard input. */
  readonly ignoresInput?: boolean;
  /** Signals it takes no notice of. */
  readonly ignores?: readonly NodeJS.Signals[];
  /** On SIGINT it writes the result of an interrupted run and exits 1, as the real one does. */
  readonly reportsOnSigint?: boolean;
  /** It writes none of its own lines, only `raw` and `stderr`: for refusals at the start. */
  readonly bare?: boolean;
  /** The `rate_limit_info` of a `rate_limit_event`. */
  readonly rateLimit?: Readonly<Record<string, unknown>>;
  /** Its own retries; after each announcement it waits `delayMs` (1 if not given). */
  readonly apiRetries?: readonly {
    readonly status: number | null;
    readonly error?: string;
    readonly delayMs?: number;
    readonly attempt?: number;
  }[];
  readonly thinking?: string;
  /** Messages before the last. */
  readonly before?: readonly string[];
  /** Tool calls with their results, `ok` if not given; `parent` makes it a sub-agent's. */
  readonly tools?: readonly {
    readonly name: string;
    readonly input?: Readonly<Record<string, unknown>>;
    readonly result?: string;
    /** A result of that many bytes. */
    readonly resultBytes?: number;
    readonly isError?: boolean;
    readonly parent?: string;
  }[];
  /** Tool calls that are refused. */
  readonly denials?: readonly {
    readonly name: string;
    readonly input?: Readonly<Record<string, unknown>>;
  }[];
  /** Lines written as they are. */
  readonly raw?: readonly string[];
  readonly stderr?: string;
  /** A command that `sh` runs to its end, its output thrown away: to write files. */
  readonly shell?: string;
  /** A command left running in a session of its own, with the output of `claude` as its own. */
  readonly leaves?: string;
  /** Time before the last message. */
  readonly delayMs?: number;
  /** It never comes to its last message. */
  readonly hangs?: boolean;
  /** The last message, and the `result` of the result line. */
  readonly text?: string;
  readonly noResult?: boolean;
  /** `success` if not given. */
  readonly subtype?: string;
  /** An error has no last message, only its text in the result line. */
  readonly isError?: boolean;
  readonly apiErrorStatus?: number;
  /** Stands in the result line in place of `result`. */
  readonly errors?: readonly string[];
  readonly numTurns?: number;
  /** 0.01 if not given. */
  readonly costUsd?: number;
  readonly sessionId?: string;
  readonly hangsAfterResult?: boolean;
  /** 0 if not given; 1 with `isError`. */
  readonly exitCode?: number;
}

const MODEL = 'fake';
const NO_TOKENS = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const TOKENS = { ...NO_TOKENS, input_tokens: 100, output_tokens: 10 };
/** What `test/fixtures/fake-claude.sh` puts the number of the call in place of. */
const CALL = '@CALL@';

/** A turn as the scripted `claude` plays it: a piece of shell, and the parts of what it says by their names. */
interface TurnScript {
  readonly shell: string;
  readonly parts: Readonly<Record<string, string>>;
}

/** Writes the script of a turn. */
export function turnScript(turn: Turn): TurnScript {
  const script = createScript();
  const voice = createVoice(turn, script.say);
  // Before the call is kept: to a test that is the sign that signals may come. With `trap ''`, what the turn starts
  // would be deaf, too.
  for (const signal of turn.ignores ?? []) script.run(`trap : ${shortName(signal)}`);
  if (turn.reportsOnSigint) script.run("trap 'say interrupted; exit 1' INT");
  script.run(`${turn.ignoresInput ? 'true' : 'cat'} >"$call.stdin"`);
  script.run('keep_call "$@"');

  voice.say({
    type: 'system',
    subtype: 'init',
    tools: ['Bash', 'Edit', 'Read', 'Write'],
    model: MODEL,
    permissionMode: 'default',
  });
  if (turn.rateLimit) voice.say({ type: 'rate_limit_event', rate_limit_info: turn.rateLimit });
  for (const [index, retry] of (turn.apiRetries ?? []).entries()) {
    const { status, error = 'unknown', delayMs = 1, attempt = index + 1 } = retry;
    voice.say({
      type: 'system',
      subtype: 'api_retry',
      attempt,
      max_retries: 10,
      retry_delay_ms: delayMs,
      error_status: status,
      error,
    });
    script.run(pause(delayMs, turn));
  }
  if (turn.thinking !== undefined) {
    voice.speak({ type: 'thinking', thinking: turn.thinking, signature: 's' });
  }
  for (const text of turn.before ?? []) voice.speak({ type: 'text', text });
  for (const call of turn.tools ?? []) {
    const { name, input = {}, result = 'ok', resultBytes, isError = false, parent } = call;
    const content = resultBytes === undefined ? result : 'x'.repeat(resultBytes);
    voice.useTool(name, input, { content, isError }, parent);
  }
  for (const { name, input = {} } of turn.denials ?? []) voice.beRefused(name, input);
  for (const line of turn.raw ?? []) script.say(`${line}\n`);
  if (turn.stderr !== undefined) script.complain(turn.stderr);
  if (turn.shell !== undefined) {
    script.run(`/bin/sh -c ${shellQuote(turn.shell)} </dev/null >/dev/null`);
  }
  if (turn.leaves !== undefined) script.run(`leave ${shellQuote(turn.leaves)}`);
  script.run(pause(turn.delayMs ?? 0, turn));
  const interrupted = voice.resultLine({
    subtype: 'error_during_execution',
    is_error: true,
    errors: ['interrupted'],
  });
  if (turn.hangs) script.run('hang');

  const isError = turn.isError ?? false;
  if (turn.text !== undefined) {
    // The text of an error comes as a message too, under a model that is none.
    voice.speak({ type: 'text', text: turn.text }, null, isError ? '<synthetic>' : MODEL);
  }
  if (!turn.noResult && !turn.bare) {
    script.say(
      voice.resultLine({
        subtype: turn.subtype ?? 'success',
        is_error: isError,
        api_error_status: turn.apiErrorStatus ?? null,
        ...(turn.errors ? { errors: turn.errors } : { result: turn.text ?? '' }),
      }),
    );
  }
  if (turn.hangsAfterResult) script.run('hang');
  script.run(`exit ${turn.exitCode ?? (isError ? 1 : 0)}`);
  return script.written(turn.reportsOnSigint ? { interrupted } : {});
}

function createScript() {
  const lines: string[] = [];
  const parts: Record<string, string> = {};

  return {
    run(line: string): void {
      if (line !== '') lines.push(line);
    },
    /** What is said at once is one part. */
    say(words: string): void {
      const last = `part-${Object.keys(parts).length}`;
      if (lines.at(-1) === `say ${last}`) {
        parts[last] += words;
        return;
      }
      const next = `part-${Object.keys(parts).length + 1}`;
      parts[next] = words;
      lines.push(`say ${next}`);
    },
    complain(words: string): void {
      parts.stderr = words;
      lines.push('say stderr >&2');
    },
    written: (others: TurnScript['parts']): TurnScript => ({
      shell: `${lines.join('\n')}\n`,
      parts: { ...parts, ...others },
    }),
  };
}

/** Everything that a turn says on standard output. */
function createVoice(turn: Turn, write: (words: string) => void) {
  const session_id = turn.sessionId ?? '00000000-0000-4000-8000-000000000001';
  // A call that ends with an API error has cost nothing; its own bounds (`errors`) come after work.
  const cost = turn.costUsd ?? (turn.isError && turn.errors === undefined ? 0 : 0.01);
  const refused: { tool_name: string; tool_use_id: string; tool_input: object }[] = [];
  let messages = 0;

  const lineOf = (line: object): string =>
    `${JSON.stringify({ ...line, session_id, uuid: 'u' })}\n`;

  function say(line: object): void {
    if (!turn.bare) write(lineOf(line));
  }

  function speak(block: object, parent: string | null = null, model = MODEL): void {
    messages += 1;
    const id = `msg_${CALL}_${messages}`;
    // As the real one: while a message begins, its output is one token long.
    const usage = model === MODEL ? { ...TOKENS, output_tokens: 1 } : NO_TOKENS;
    const message = { id, type: 'message', role: 'assistant', model, content: [block], usage };
    say({ type: 'assistant', message, parent_tool_use_id: parent });
  }

  function useTool(
    name: string,
    input: object,
    { content, isError }: { content: string; isError: boolean },
    parent?: string,
  ): string {
    const id = `toolu_${CALL}_${messages + 1}`;
    speak({ type: 'tool_use', id, name, input }, parent);
    const block = { tool_use_id: id, type: 'tool_result', content, is_error: isError };
    const message = { role: 'user', content: [block] };
    say({ type: 'user', message, parent_tool_use_id: parent ?? null });
    return id;
  }

  function beRefused(name: string, input: object): void {
    const content = `Claude requested permissions to use ${name}, but you haven't granted it yet.`;
    const id = useTool(name, input, { content, isError: true });
    refused.push({ tool_name: name, tool_use_id: id, tool_input: input });
  }

  /** Its last line, with what it has said so far. */
  function resultLine(fields: object): string {
    const model = { inputTokens: 100, outputTokens: 10, costUSD: cost };
    return lineOf({
      type: 'result',
      duration_ms: 1,
      duration_api_ms: 1,
      num_turns: turn.numTurns ?? messages,
      total_cost_usd: cost,
      usage: cost === 0 ? NO_TOKENS : TOKENS,
      modelUsage: cost === 0 ? {} : { [MODEL]: model },
      permission_denials: refused,
      terminal_reason: 'completed',
      ...fields,
    });
  }

  return { say, speak, useTool, beRefused, resultLine };
}

/** A pause that a signal does not shorten which the turn ignores. */
function pause(ms: number, { ignores = [] }: Turn): string {
  if (ms < 2) return '';
  const deaf = ignores.map((signal) => `trap '' ${shortName(signal)}; `).join('');
  return `(${deaf}exec sleep ${ms / 1_000})`;
}

/** As the shell knows it. */
function shortName(signal: NodeJS.Signals): string {
  return signal.replace('SIG', '');
}

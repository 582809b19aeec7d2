import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SignName } from '../../src/core/agent/sign.ts';
import type { SignLimits } from '../../src/core/supervisor/supervisor.ts';

/*
 * Traces are written as steps, one on each line after the head, and played as the stream-json that `claude`
 * prints (test/fixtures/transcripts has recordings of it). `{n}` in a text is the number of the (outermost) repetition.
 */

/** The first line of a trace. */
interface TraceHead {
  /** What happens, in one sentence. */
  readonly plays: string;
  /** Of a runaway: the sign that ends it, and the number of calls by which it has. */
  readonly cutBy?: SignName;
  readonly atMost?: number;
  /** The signs that are told, in their order; not compared if absent. */
  readonly tells?: readonly SignName[];
  /** Limits that differ from the default ones. */
  readonly limits?: Partial<SignLimits>;
}

export interface Trace extends TraceHead {
  readonly name: string;
  readonly steps: readonly TraceStep[];
}

type TraceStep =
  | RepeatedSteps
  /** Calls in one message, answered in their order. */
  | { readonly together: readonly CallStep[] }
  | CallStep
  /** The agent says something. */
  | { readonly text: string; readonly by?: string }
  /** A call that starts a sub-agent, whose steps name it in `by`. */
  | { readonly starts: string; readonly prompt: string; readonly background?: boolean }
  | { readonly ends: string }
  /** A request fails, and `claude` tries again by itself. */
  | { readonly retries: number }
  /** The turn ends, at this cost of its own; then the end of a background task wakes the agent. */
  | { readonly costUsd: number };

interface RepeatedSteps {
  readonly times: number;
  readonly steps: readonly TraceStep[];
}

interface CallStep {
  readonly call: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly by?: string;
  /** The text of the result; one of the three. */
  readonly says?: string;
  readonly fails?: string;
  readonly refused?: string;
  readonly tokens?: { readonly input: number; readonly output: number; readonly cached: number };
}

const TRACES = fileURLToPath(new URL('../fixtures/traces/', import.meta.url));

/** Reads all traces of a folder. */
export function readTraces(folder: 'honest' | 'runaway'): readonly Trace[] {
  return readdirSync(join(TRACES, folder))
    .sort()
    .map((file) => {
      const lines = readFileSync(join(TRACES, folder, file), 'utf8')
        .trim()
        .split('\n');
      const [head, ...steps] = lines.map((line) => JSON.parse(line));
      return { name: file.replace(/\.jsonl$/, ''), ...head, steps };
    });
}

/** Returns the events that `claude` prints in a trace, each as one line of JSON without its line end. */
export function streamJson({ steps }: Trace): readonly string[] {
  const stage = createStage();
  play(stage, steps);
  stage.finish();
  return stage.lines;
}

function play(stage: Stage, steps: readonly TraceStep[]): void {
  for (const step of steps) {
    if ('times' in step) repeat(stage, step);
    else if ('together' in step) stage.calls(step.together);
    else if ('call' in step) stage.calls([step]);
    else if ('starts' in step) stage.starts(step);
    else if ('ends' in step) stage.ends(step.ends);
    else if ('text' in step) stage.says(step);
    else if ('retries' in step) stage.retries(step.retries);
    else {
      stage.result(step.costUsd);
      stage.wakes();
    }
  }
}

function repeat(stage: Stage, { times, steps }: RepeatedSteps): void {
  const text = JSON.stringify(steps);
  for (let k = 1; k <= times; k += 1) {
    play(stage, JSON.parse(text.replaceAll('{n}', String(k))));
  }
}

type Stage = ReturnType<typeof createStage>;

const SESSION = '00000000-0000-4000-8000-000000000001';
const MODEL = 'claude-opus-4-8';

/** Writes events in the form of `claude`, with ids of its own. */
function createStage() {
  const lines: string[] = [];
  const subAgents = new Map<string, { task: string; call: string; background: boolean }>();
  const denials: object[] = [];
  let ids = 0;
  let turns = 0;
  let costUsd = 0;
  let input = 0;
  let output = 0;

  const uuid = () => `00000000-0000-4000-8000-${String(lines.length + 1).padStart(12, '0')}`;
  const id = (prefix: string): string => {
    ids += 1;
    return `${prefix}_${String(ids).padStart(4, '0')}`;
  };
  const write = (event: object): void => {
    lines.push(JSON.stringify({ ...event, session_id: SESSION, uuid: uuid() }));
  };
  const of = (by: string | undefined) => {
    const subAgent = by === undefined ? undefined : subAgents.get(by);
    if (by !== undefined && subAgent === undefined) throw new Error(`No sub-agent "${by}" works.`);
    return subAgent === undefined
      ? { parent_tool_use_id: null }
      : { parent_tool_use_id: subAgent.call, subagent_type: 'general-purpose' };
  };

  const assistant = (
    message: string,
    block: object,
    by: string | undefined,
    tokens: CallStep['tokens'],
  ): void => {
    const usage = {
      input_tokens: tokens?.input ?? 4,
      output_tokens: tokens?.output ?? 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens?.cached ?? 20_000,
    };
    const body = {
      ...{ id: message, type: 'message', role: 'assistant', model: MODEL, content: [block] },
      ...{ stop_reason: null, stop_sequence: null, usage, context_management: null },
    };
    write({ type: 'assistant', message: body, ...of(by) });
    input += usage.input_tokens;
    output += usage.output_tokens;
  };

  const answer = (call: string, content: unknown, isError: boolean, by: string | undefined) => {
    // A call that worked may have no `is_error`; one that failed begins with its type.
    const block = isError
      ? { type: 'tool_result', content, is_error: true, tool_use_id: call }
      : { tool_use_id: call, type: 'tool_result', content };
    const message = { role: 'user', content: [block] };
    const timestamp = '2026-01-02T03:04:05.678Z';
    write({ type: 'user', message, ...of(by), timestamp });
  };

  const answerTo = (call: string, step: CallStep): void => {
    const { call: tool_name, by, refused } = step;
    if (refused !== undefined) {
      write({
        ...{ type: 'system', subtype: 'permission_denied', tool_name, tool_use_id: call },
        message: refused,
      });
      denials.push({ tool_name, tool_use_id: call, tool_input: step.input });
    }
    const error = step.fails ?? refused;
    answer(call, error ?? step.says ?? '', error !== undefined, by);
  };

  const init = (): void =>
    write({
      ...{ type: 'system', subtype: 'init', cwd: '/home/user/app', tools: [], mcp_servers: [] },
      ...{ model: MODEL, permissionMode: 'acceptEdits', claude_code_version: '2.1.330' },
    });

  const result = (ownCostUsd: number): void => {
    costUsd += ownCostUsd;
    const usage = { input_tokens: input, output_tokens: output };
    write({
      ...{ type: 'result', subtype: 'success', is_error: false, api_error_status: null },
      ...{ duration_ms: 1, duration_api_ms: 1, num_turns: turns, result: 'That is where it is.' },
      ...{ stop_reason: 'end_turn', total_cost_usd: costUsd, usage, permission_denials: denials },
      terminal_reason: 'completed',
    });
    turns = 0;
  };

  init();
  return {
    lines,
    result,
    wakes: init,
    finish: () => result(0.01),
    says: ({ text, by }: { readonly text: string; readonly by?: string }): void => {
      turns += 1;
      assistant(id('msg'), { type: 'text', text }, by, undefined);
    },
    calls: (steps: readonly CallStep[]): void => {
      turns += 1;
      const message = id('msg');
      const made = steps.map((step) => {
        const call = id('toolu');
        const { call: name, input: fields, by, tokens } = step;
        assistant(message, { type: 'tool_use', id: call, name, input: fields }, by, tokens);
        return { call, step };
      });
      for (const { call, step } of made) answerTo(call, step);
    },
    starts: (step: { readonly starts: string; prompt: string; background?: boolean }): void => {
      turns += 1;
      const [call, task] = [id('toolu'), id('task')];
      const { starts: name, prompt, background = false } = step;
      const about = { description: name, prompt, subagent_type: 'general-purpose' };
      const fields = background ? { ...about, run_in_background: true } : about;
      assistant(
        id('msg'),
        { type: 'tool_use', id: call, name: 'Task', input: fields },
        undefined,
        undefined,
      );
      write({
        ...{ type: 'system', subtype: 'task_started', task_id: task, tool_use_id: call },
        ...{ ...about, task_type: 'local_agent' },
      });
      subAgents.set(name, { task, call, background });
      if (background) answer(call, `Async agent launched: ${task}`, false, undefined);
    },
    ends: (name: string): void => {
      const subAgent = subAgents.get(name);
      if (subAgent === undefined) throw new Error(`No sub-agent "${name}" works.`);
      const { task, call, background } = subAgent;
      write({
        ...{ type: 'system', subtype: 'task_notification', task_id: task, tool_use_id: call },
        ...{ status: 'completed', output_file: '', summary: name },
      });
      if (!background) answer(call, [{ type: 'text', text: 'It is done.' }], false, undefined);
    },
    retries: (attempt: number): void =>
      write({
        ...{ type: 'system', subtype: 'api_retry', attempt, max_retries: 10 },
        ...{ retry_delay_ms: 513.5, error_status: null, error: 'unknown' },
      }),
  };
}

import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/*
 * The agent of `ralph demo`: a separate program that prints the stream-json of `claude` and plays three turns: it
 * works, it mentions the promise (the words for "done"), it states the promise.
 */

interface Turn {
  readonly steps: readonly Step[];
  readonly message: string;
}
type Step =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'write'; readonly file: string; readonly content: string }
  | { readonly kind: 'read'; readonly file: string };

const FILE = 'greeting.txt';
const TURNS: readonly Turn[] = [
  {
    steps: [
      { kind: 'text', text: 'I will write the greeting first.' },
      { kind: 'write', file: FILE, content: 'Hello from a loop that knows when to stop.\n' },
    ],
    message: 'I wrote greeting.txt. Reading it back is still to be done.',
  },
  {
    steps: [{ kind: 'text', text: 'Now I think about how to end.' }],
    message:
      'Once I have read the file back I will state <promise>GREETING_READY</promise> as asked.',
  },
  {
    steps: [{ kind: 'read', file: FILE }],
    message: 'The file is there and reads well.\n\n<promise>GREETING_READY</promise>',
  },
];

const STEP_MS = 350;
const COST_USD = 0.004;

const iteration = Number(process.env.RALPH_ITERATION ?? '1');
const turn = TURNS[Math.min(iteration, TURNS.length) - 1] ?? TURNS[0];
const session = `stand-in-${iteration}`;

// Reads the whole prompt, as the real agent does, but ignores it.
for await (const _ of process.stdin);

say({ type: 'system', subtype: 'init', session_id: session, model: 'stand-in' });
let number = 0;
for (const step of turn?.steps ?? []) {
  await pause(STEP_MS);
  number += 1;
  play(step, `${session}-${number}`);
}
await pause(STEP_MS);
assistant(`${session}-end`, { type: 'text', text: turn?.message ?? '' });
say({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: turn?.message ?? '',
  session_id: session,
  num_turns: number + 1,
  total_cost_usd: COST_USD,
  usage: { input_tokens: 900, output_tokens: 60 },
  permission_denials: [],
});

function play(step: Step, id: string): void {
  if (step.kind === 'text') {
    assistant(id, { type: 'text', text: step.text });
    return;
  }
  if (step.kind === 'write') writeFileSync(step.file, step.content);
  assistant(id, {
    type: 'tool_use',
    id: `tool-${id}`,
    name: step.kind === 'write' ? 'Write' : 'Read',
    input: { file_path: step.file },
  });
  say({
    type: 'user',
    parent_tool_use_id: null,
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `tool-${id}`, content: 'ok', is_error: false }],
    },
  });
}

function assistant(id: string, block: object): void {
  say({
    type: 'assistant',
    parent_tool_use_id: null,
    session_id: session,
    message: {
      id,
      role: 'assistant',
      content: [block],
      usage: { input_tokens: 900, output_tokens: 20 },
    },
  });
}

function say(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

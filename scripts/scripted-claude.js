#!/usr/bin/env node
// Stands in for `claude` while the pictures are made: each call plays the next turn of $TURNS, a JSON
// file, as stream-json. A turn: {text, costUsd, delayMs, tools: [[name, target]], refused, writes}.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const turns = JSON.parse(readFileSync(process.env.TURNS ?? '', 'utf8'));
const number = Number(process.env.RALPH_ITERATION ?? '1');
const turn = turns[Math.min(number, turns.length) - 1];
const session = `scripted-${number}`;
const usage = { input_tokens: 4200 * number, output_tokens: 700 };

for await (const _ of process.stdin);
say({ type: 'system', subtype: 'init', session_id: session, model: 'scripted' });
const refused = [];
for (const [index, [name, target, isRefused]] of (turn.tools ?? []).entries()) {
  const id = `tool-${number}-${index}`;
  const input = name === 'Bash' ? { command: target } : { file_path: target };
  assistant({ type: 'tool_use', id, name, input });
  const result = { type: 'tool_result', tool_use_id: id, content: 'ok', is_error: isRefused };
  say({ type: 'user', parent_tool_use_id: null, message: { role: 'user', content: [result] } });
  if (isRefused) refused.push({ tool_name: name, tool_use_id: id, tool_input: input });
}
await pause(turn.delayMs);
for (const file of turn.writes ?? []) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${session}\n`);
}
assistant({ type: 'text', text: turn.text });
say({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: turn.text,
  session_id: session,
  num_turns: (turn.tools ?? []).length + 1,
  total_cost_usd: turn.costUsd,
  usage,
  permission_denials: refused,
});

/** @param {object} block */
function assistant(block) {
  const message = { id: `${session}-m`, role: 'assistant', content: [block], usage };
  say({ type: 'assistant', parent_tool_use_id: null, session_id: session, message });
}

/** @param {object} event */
function say(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

import { closeSync, openSync, writeSync } from 'node:fs';

/*
 * A stream as `claude --print --verbose --output-format stream-json` writes it when it works on code:
 * for each message a text or a tool call, the tool's result (which it writes twice: as the model gets
 * it, and as structured data), and now and then a line of a kind that nobody needs. By bytes it is
 * nearly all tool results; by lines, half.
 */

/** What the tools of one round give, in bytes: an edit, a few tests, two files that were read. */
const RESULT_BYTES = [200, 1_500, 6_000, 24_000];

const SESSION = '1b4e28ba-2fa1-41d2-883f-0016d3cca427';
const USAGE = { input_tokens: 4, cache_read_input_tokens: 52_311, output_tokens: 212 };

/** Stands for a number that is another one in each round. */
const NUMBER = '00000000';

/** Writes such a stream of about `bytes` bytes; it ends with a promise. */
export function writeStream(/** @type {string} */ file, /** @type {number} */ bytes) {
  const round = Buffer.from(roundOfWork());
  const numbers = placesOf(NUMBER, round);
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, line({ type: 'system', subtype: 'init', model: 'claude-bench' }));
  for (let written = 0; written < bytes; written += round.length) {
    const number = String(written / round.length).padStart(NUMBER.length, '0');
    for (const place of numbers) round.write(number, place, 'latin1');
    writeSync(descriptor, round);
  }
  const last = { type: 'result', subtype: 'success', is_error: false, num_turns: 1 };
  writeSync(descriptor, line({ ...last, result: 'TASK_COMPLETE', total_cost_usd: 0 }));
  closeSync(descriptor);
}

function placesOf(/** @type {string} */ words, /** @type {Buffer} */ bytes) {
  const places = [];
  for (let at = bytes.indexOf(words); at !== -1; at = bytes.indexOf(words, at + 1)) places.push(at);
  return places;
}

function roundOfWork() {
  let text = '';
  RESULT_BYTES.forEach((bytes, index) => {
    const message = `msg_${NUMBER}-${index}`;
    const id = `toolu_${NUMBER}-${index}`;
    const spoken = { type: 'text', text: 'I look at the next file, then run the tests again.' };
    // Another command each time: ralph would end an agent that only repeats itself.
    const input = { command: `npm test -- --run ${id}`, description: 'Run the tests' };
    text += assistant(message, spoken);
    text += assistant(message, { type: 'tool_use', id, name: 'Bash', input });
    const output = sourceCode(bytes);
    text += event({
      type: 'user',
      message: {
        role: 'user',
        content: [{ tool_use_id: id, type: 'tool_result', content: output, is_error: false }],
      },
      tool_use_result: { stdout: output, stderr: '', interrupted: false, isImage: false },
    });
  });
  return text + event({ type: 'system', subtype: 'task_progress', description: 'Running tests' });
}

function assistant(/** @type {string} */ id, /** @type {object} */ block) {
  const message = { id, type: 'message', role: 'assistant', model: 'claude-bench' };
  return event({ type: 'assistant', message: { ...message, content: [block], usage: USAGE } });
}

/** Source code: a line end every forty bytes and many quotes, all of which JSON has to escape. */
function sourceCode(/** @type {number} */ bytes) {
  const lines = [
    "import { readFile } from 'node:fs/promises';\n",
    '  const name = "a file that is read";\n',
    '  return text.split("\\n").filter((line) => line !== "");\n',
    '\n',
    '    // What follows is done once for each of them.\n',
    '    expect(result.exitCode).toBe(0);\n',
  ].join('');
  return lines.repeat(Math.ceil(bytes / lines.length)).slice(0, bytes);
}

function event(/** @type {object} */ body) {
  return line({ ...body, parent_tool_use_id: null, session_id: SESSION });
}

function line(/** @type {object} */ body) {
  return `${JSON.stringify(body)}\n`;
}

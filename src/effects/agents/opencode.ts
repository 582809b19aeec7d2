import { amountAt, type JsonObject, numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import { jsonAgent } from './json-agent.ts';
import type { Sink } from './sink.ts';

/** The tools that a permission can deny. A call of any other tool is a mistake of the model. */
const TOOLS: ReadonlySet<string> = new Set([
  ...['bash', 'edit', 'write', 'patch', 'apply_patch', 'multiedit', 'read', 'glob', 'grep', 'list'],
  ...['webfetch', 'websearch', 'codesearch', 'task', 'todowrite', 'todoread', 'skill', 'lsp'],
]);

/** The agent that runs `opencode run --format json` and reads its events. */
export const opencodeAgent = jsonAgent({
  program: 'opencode',
  ownFolder: '.opencode/bin',
  args({ resumeSession }, { settings, passthrough }) {
    const { model, dangerouslySkipPermissions } = settings;
    return [
      ...['run', '--format', 'json'],
      ...(model === null ? [] : ['-m', model]),
      ...(dangerouslySkipPermissions ? ['--auto'] : []),
      ...(resumeSession === null ? [] : ['-s', resumeSession]),
      ...passthrough,
    ];
  },
  event(event, say) {
    say.session(stringAt(event, 'sessionID'));
    const part = objectAt(event, 'part') ?? {};
    switch (stringAt(event, 'type')) {
      case 'step_start':
        say.newStep();
        return;
      case 'text':
        say.text(stringAt(part, 'text') ?? '');
        return;
      case 'tool_use':
        readTool(part, say);
        return;
      case 'step_finish':
        readStep(part, say);
        return;
      case 'error': {
        const error = objectAt(event, 'error') ?? {};
        const data = objectAt(error, 'data') ?? {};
        const words = [stringAt(error, 'name') ?? '', stringAt(data, 'message') ?? ''];
        const status = numberAt(data, 'statusCode');
        say.error(words.join(': '), status, true, data.isRetryable === true);
        return;
      }
    }
  },
  words(line, say, { passthrough }) {
    const asked = /^\W*permission requested: (\S+)(?: \((.*)\))?; auto-rejecting/.exec(line);
    if (asked !== null) {
      say.refusedSomewhere(asked[1] ?? 'unknown', asked[2] ?? '');
      return;
    }
    // opencode prints its help for an unknown flag, without naming the flag.
    if (!say.hasBegun() && /^opencode run \[message/.test(line)) {
      const given = passthrough.length === 0 ? 'nothing' : passthrough.join(' ');
      say.error(
        `opencode printed its help: it does not know one of its options; given after -- was: ${given}`,
        null,
        true,
      );
    }
  },
});

/** Reads a tool call. opencode reports a call after its end, and a quick one even before the preceding text. */
function readTool(part: JsonObject, say: Sink): void {
  const state = objectAt(part, 'state') ?? {};
  const input = objectAt(state, 'input');
  const id = stringAt(part, 'callID');
  const tool = stringAt(part, 'tool') ?? 'unknown';
  const denied = tool === 'invalid' ? stringAt(input ?? {}, 'tool') : null;
  if (denied !== null && TOOLS.has(denied)) {
    say.toolStart(id, denied, null);
    say.toolEnd(id, 'refused');
    return;
  }
  say.toolStart(id, tool, input);
  if (stringAt(state, 'status') !== 'error') {
    const exitCode = numberAt(objectAt(state, 'metadata') ?? {}, 'exit') ?? 0;
    say.toolEnd(id, exitCode === 0 ? 'succeeded' : 'failed');
    return;
  }
  const isRejected = /rejected permission|rule which prevents/i.test(
    stringAt(state, 'error') ?? '',
  );
  say.toolEnd(id, isRejected ? 'refused' : 'failed');
}

function readStep(part: JsonObject, say: Sink): void {
  const tokens = objectAt(part, 'tokens') ?? {};
  const cache = objectAt(tokens, 'cache') ?? {};
  const costUsd = amountAt(part, 'cost');
  const output = amountAt(tokens, 'output');
  const uncached = amountAt(tokens, 'input') + amountAt(cache, 'write');
  say.usage(
    {
      cost_usd: costUsd,
      input_tokens: uncached + amountAt(cache, 'read'),
      output_tokens: output,
    },
    'add',
  );
  say.used(uncached + output, costUsd);
  const reason = stringAt(part, 'reason');
  if (reason === 'unknown') {
    say.cutOff();
    return;
  }
  say.endStep(reason === 'stop');
  if (reason === 'stop') say.result();
}

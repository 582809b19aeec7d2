import { numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import { tokensAt } from './event-fields.ts';
import { jsonAgent } from './json-agent.ts';

const MODES: Readonly<Record<string, string>> = { acceptEdits: 'auto_edit' };

/** The tools that gemini removes in a mode that does not allow them. A call of any other tool is no refusal. */
const TOOLS_OF_OTHER_MODES: ReadonlySet<string> = new Set([
  ...['run_shell_command', 'write_file', 'replace', 'edit', 'web_fetch', 'save_memory'],
]);

const UNASKED = 'gemini ended without a question to its model';

/** The agent that runs `gemini -o stream-json` and reads its events. */
export const geminiAgent = jsonAgent({
  program: 'gemini',
  args({ resumeSession }, { settings, passthrough }) {
    const { model, permissionMode, dangerouslySkipPermissions } = settings;
    const mode = dangerouslySkipPermissions
      ? 'yolo'
      : permissionMode === null
        ? null
        : (MODES[permissionMode] ?? permissionMode);
    return [
      ...['-o', 'stream-json', '--skip-trust'],
      ...(model === null ? [] : ['-m', model]),
      ...(mode === null ? [] : ['--approval-mode', mode]),
      ...(resumeSession === null ? [] : ['-r', resumeSession]),
      ...passthrough,
    ];
  },
  event(event, say) {
    const id = stringAt(event, 'tool_id');
    switch (stringAt(event, 'type')) {
      case 'init':
        say.session(stringAt(event, 'session_id'));
        return;
      case 'message':
        if (stringAt(event, 'role') !== 'assistant') return;
        say.text(stringAt(event, 'content') ?? '', event.delta === true);
        return;
      case 'tool_use':
        say.toolStart(id, stringAt(event, 'tool_name') ?? 'unknown', objectAt(event, 'parameters'));
        return;
      case 'tool_result': {
        if (stringAt(event, 'status') !== 'error') {
          say.toolEnd(id, 'succeeded');
          return;
        }
        const why = stringAt(objectAt(event, 'error') ?? {}, 'type');
        // The id begins with the name of the tool.
        const [tool = ''] = (id ?? '').split('__');
        const isRefused = why === 'tool_not_registered' && TOOLS_OF_OTHER_MODES.has(tool);
        say.toolEnd(id, isRefused ? 'refused' : 'failed');
        return;
      }
      case 'error':
        if (stringAt(event, 'severity') === 'error') {
          say.error(stringAt(event, 'message') ?? '', null, false);
        }
        return;
      case 'result': {
        say.usage(tokensAt(event, 'stats'), 'run');
        if (stringAt(event, 'status') === 'success') {
          // gemini also ends like this if its context is full, or a hook has stopped it, before it asks the model.
          const isUnasked = numberAt(objectAt(event, 'stats') ?? {}, 'input_tokens') === 0;
          say.result(null, isUnasked ? UNASKED : null);
          return;
        }
        const error = objectAt(event, 'error') ?? {};
        const words = [stringAt(error, 'type'), stringAt(error, 'message')];
        say.error(words.filter((word) => word !== null).join(': '), null, true);
        return;
      }
    }
  },
  words(line, say) {
    // Each failed attempt counts as a retry, because only a later line can say whether gemini tries again. A `result`
    // event follows the last attempt.
    const retry = /^Attempt (\d+) failed(?: with status (\d{3}))?/i.exec(line);
    if (retry === null) return;
    const [, attempt, status] = retry;
    say.retry({
      status: status === undefined ? null : Number(status),
      error: 'told on standard error',
      attempt: Number(attempt),
    });
  },
});

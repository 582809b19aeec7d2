import { numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import { jsonAgent } from './json-agent.ts';

/** The agent that runs `copilot --output-format json` and reads its events. */
export const copilotAgent = jsonAgent({
  program: 'copilot',
  args({ resumeSession }, { settings, passthrough }) {
    const { allowedTools, model, permissionMode, dangerouslySkipPermissions } = settings;
    const allowed = [...(permissionMode === 'acceptEdits' ? ['write'] : []), ...allowedTools];
    return [
      ...['--output-format', 'json'],
      ...(model === null ? [] : [`--model=${model}`]),
      ...(dangerouslySkipPermissions ? ['--allow-all-tools'] : []),
      ...allowed.map((tool) => `--allow-tool=${tool}`),
      ...(resumeSession === null ? [] : [`--resume=${resumeSession}`]),
      ...passthrough,
    ];
  },
  event(event, say) {
    const data = objectAt(event, 'data') ?? {};
    const id = stringAt(data, 'toolCallId');
    // The events of a sub-agent are among those of the main agent. Older versions name only the call that started it.
    const by = stringAt(event, 'agentId') ?? stringAt(data, 'parentToolCallId');
    switch (stringAt(event, 'type')) {
      case 'assistant.message':
        if (by === null) say.text(stringAt(data, 'content') ?? '');
        return;
      case 'assistant.reasoning':
        if (by === null) say.thinking();
        return;
      case 'tool.execution_start':
        say.toolStart(id, stringAt(data, 'toolName') ?? 'unknown', objectAt(data, 'arguments'), by);
        return;
      case 'tool.execution_complete': {
        if (data.success === true) {
          const exitCode = numberAt(objectAt(data, 'shellExecution') ?? {}, 'exitCode') ?? 0;
          say.toolEnd(id, exitCode === 0 ? 'succeeded' : 'failed');
          return;
        }
        const code = stringAt(objectAt(data, 'error') ?? {}, 'code');
        say.toolEnd(id, code === 'denied' ? 'refused' : 'failed');
        return;
      }
      case 'model.call_failure':
        say.retry({
          status: numberAt(data, 'statusCode'),
          error: stringAt(data, 'errorMessage') ?? '',
          attempt: numberAt(data, 'retryAttempt'),
        });
        return;
      case 'session.error':
        say.error(stringAt(data, 'message') ?? '', numberAt(data, 'statusCode'), false);
        return;
      case 'result': {
        say.session(stringAt(event, 'sessionId'));
        if (numberAt(event, 'exitCode') === 0) say.result();
        return;
      }
    }
  },
});

import { numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import { jsonAgent } from './json-agent.ts';

/** The agent that runs `copilot --output-format json` and reads its events. */
export const copilotAgent = jsonAgent({
  program: 'copilot',
  homeFolders: ['.local/bin'],
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
    switch (stringAt(event, 'type')) {
      case 'assistant.message':
        return say.text(stringAt(data, 'content') ?? '');
      case 'assistant.reasoning':
        return say.thinking();
      case 'tool.execution_start':
        return say.toolStart(
          id,
          stringAt(data, 'toolName') ?? 'unknown',
          objectAt(data, 'arguments'),
        );
      case 'tool.execution_complete': {
        if (data.success === true) return say.toolEnd(id, 'succeeded');
        const code = stringAt(objectAt(data, 'error') ?? {}, 'code');
        return say.toolEnd(id, code === 'denied' ? 'refused' : 'failed');
      }
      case 'model.call_failure':
        return say.retry({
          status: numberAt(data, 'statusCode'),
          error: stringAt(data, 'errorMessage') ?? '',
          attempt: numberAt(data, 'retryAttempt'),
        });
      case 'session.error':
        return say.error(stringAt(data, 'message') ?? '', numberAt(data, 'statusCode'), false);
      case 'result': {
        say.session(stringAt(event, 'sessionId'));
        if (numberAt(event, 'exitCode') === 0) say.result();
        return;
      }
    }
  },
});

import type { AgentDeed } from '../../src/core/supervisor/supervisor.ts';

/** Reads the deeds from the stream-json of a trace, in the plainest way. */
export function deedsIn(lines: readonly string[]): readonly AgentDeed[] {
  const counted = new Set<string>();
  const refused = new Set<string>();
  let costUsd = 0;

  return lines.flatMap((line): readonly AgentDeed[] => {
    const event = JSON.parse(line);
    const by: string | null = event.parent_tool_use_id ?? null;
    switch (event.subtype === undefined ? event.type : `${event.type}/${event.subtype}`) {
      case 'assistant': {
        const { id: message, content, usage } = event.message;
        const tokens = usage.input_tokens + usage.cache_creation_input_tokens + usage.output_tokens;
        const used: AgentDeed[] = counted.has(message) ? [] : [{ kind: 'used', tokens }];
        counted.add(message);
        const [{ type, id, name: tool, input }] = content;
        return type === 'tool_use' ? [{ kind: 'called', id, by, tool, input }, ...used] : used;
      }
      case 'user': {
        const [{ tool_use_id: id, is_error }] = event.message.content;
        const how = refused.has(id) ? 'refused' : is_error === true ? 'failed' : 'succeeded';
        return [{ kind: 'answered', id, how }];
      }
      case 'system/permission_denied':
        refused.add(event.tool_use_id);
        return [];
      case 'system/task_started':
        return event.task_type === 'local_agent'
          ? [{ kind: 'sub-agent-started', id: event.task_id }]
          : [];
      case 'result/success': {
        const further = event.total_cost_usd - costUsd;
        costUsd = event.total_cost_usd;
        return [{ kind: 'spent', costUsd: further }];
      }
      default:
        return [];
    }
  });
}

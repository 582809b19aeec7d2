import type { LogItem } from '../../core/agent/log-item.ts';
import { withoutControls } from '../../core/text/untrusted-text.ts';
import { type AgentKind, QUIET_SIGNS } from './agent.ts';

/** Turns the output of an agent into the texts and tool calls that ralph showed while the agent ran. */
export function createReadableEvents(kind: AgentKind) {
  let items: LogItem[] = [];
  const reader = kind.read(
    {
      text: (text) => items.push({ kind: 'text', text: withoutControls(text).trimEnd() }),
      retry: ({ status, error }) =>
        items.push({ kind: 'line', text: withoutControls(`[retry] ${status ?? ''} ${error}`) }),
      did() {},
      activity(activity) {
        if (activity.kind !== 'tool') return;
        const { tool, target } = activity;
        items.push({ kind: 'tool', tool: withoutControls(tool), target: withoutControls(target) });
      },
    },
    QUIET_SIGNS,
  );
  const take = (): readonly LogItem[] => {
    const taken = items;
    items = [];
    return taken;
  };
  return {
    push(chunk: Buffer): readonly LogItem[] {
      reader.push(chunk);
      return take();
    },
    end(): readonly LogItem[] {
      reader.end();
      const { result } = reader.facts();
      if (result?.isError)
        items.push({ kind: 'line', text: `[error] ${withoutControls(result.text ?? '')}` });
      return take();
    },
  };
}

import { withoutControls } from '../../core/text/untrusted-text.ts';
import { type AgentKind, QUIET_SIGNS } from './agent.ts';

/** One entry of the log of an agent, without control characters. */
type ShownEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  | { readonly kind: 'line'; readonly text: string };

interface ReadableEvents {
  push(chunk: Buffer): readonly ShownEvent[];
  end(): readonly ShownEvent[];
}

/** Turns the output of an agent into what a person would have seen of it while it ran. */
export function createReadableEvents(kind: AgentKind): ReadableEvents {
  let items: ShownEvent[] = [];
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
  const take = (): readonly ShownEvent[] => {
    const taken = items;
    items = [];
    return taken;
  };
  return {
    push(chunk) {
      reader.push(chunk);
      return take();
    },
    end() {
      reader.end();
      const { result } = reader.facts();
      if (result?.isError)
        items.push({ kind: 'line', text: `[error] ${withoutControls(result.text ?? '')}` });
      return take();
    },
  };
}

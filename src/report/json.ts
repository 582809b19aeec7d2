import { safeJson } from '../core/safe-json.ts';
import type { LineSink, View } from './view.ts';

/** One event a line, as JSON, and nothing else. */
export function jsonView(sink: LineSink): View {
  return {
    showsActivity: true,
    showsText: false,
    event: (event) => sink.write(`${safeJson(event)}\n`),
    notice() {},
    agentText() {},
    close() {},
  };
}

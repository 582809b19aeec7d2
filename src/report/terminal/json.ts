import { safeJson } from '../../core/text/safe-json.ts';
import type { LineSink, View } from './view.ts';

/** Prints each event as one line of JSON, and nothing else. */
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

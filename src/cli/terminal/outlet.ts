import { safeJson } from '../../core/text/safe-json.ts';
import { withoutControls, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { ECHO_MS } from '../../effects/processes/signals.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { wrappedProse } from '../../report/columns.ts';

/** An output that may be large, and whose reader may go away. */
export interface Outlet {
  /** Resolves after the text is written: to true, or to false if the reader has gone. */
  write(text: string | Uint8Array): Promise<boolean>;
}

/** Returns standard output as an outlet. `write` reports a reader that has gone (`| head`) instead of throwing. */
export function standardOutlet(stream: NodeJS.WritableStream = process.stdout): Outlet {
  return {
    write(text) {
      if (text.length === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        stream.write(text, (error) => resolve(error === null || error === undefined));
      });
    },
  };
}

/** Returns data as the text of a JSON document, without control characters. */
export function jsonText(value: unknown): string {
  return `${safeJson(withoutControlsIn(value), 2)}\n`;
}

const NAME = 'ralph: ';

/** Prints a sentence on standard error, without control characters, since it may quote untrusted text. */
export function say(sentence: string): void {
  const { stderr } = process;
  const lines = withoutControls(sentence).split('\n');
  const shown = lines.map((line) => {
    const parts = stderr.isTTY ? wrappedProse(line, stderr.columns - NAME.length - 1) : [line];
    return `${NAME}${parts.join(`\n${' '.repeat(NAME.length)}`)}\n`;
  });
  stderr.write(shown.join(''));
}

/** Reads standard input to its end. */
export async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * Returns an `AbortSignal` that fires on SIGINT, SIGTERM or SIGHUP. Its reason is the exit code for that signal. The
 * same signal again ends ralph, but not at once, or its echo would leave a terminal without a cursor.
 */
export function signalled(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const onSignal = (): void => {
      controller.abort(exitCodeFor('stopped', `stopped:${name}`));
      setTimeout(() => process.off(name, onSignal), ECHO_MS).unref();
    };
    process.on(name, onSignal);
  }
  return controller.signal;
}

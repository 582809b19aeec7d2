import { onTestFinished, vi } from 'vitest';

/** What a command prints in the test's own process. */
export interface CapturedOutput {
  readonly out: () => string;
  readonly err: () => string;
}

/** Keeps what is printed until the test ends. */
export function captureOutput(): CapturedOutput {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    const spy = vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      texts[name] += Buffer.from(text as Uint8Array).toString();
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    });
    onTestFinished(() => spy.mockRestore());
  }
  return { out: () => texts.stdout, err: () => texts.stderr };
}

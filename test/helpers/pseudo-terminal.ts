import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { PATIENCE_MS } from './patience.ts';
import type { Scene } from './scene.ts';
import { type VirtualTerminal, virtualTerminal } from './virtual-terminal.ts';

/** `script` gives its command a terminal of its own. */
const SCRIPT = '/usr/bin/script';

export const HAS_PSEUDO_TERMINALS = process.platform === 'linux' && existsSync(SCRIPT);

/** A command on a terminal of its own. */
export interface OnTerminal {
  /** What has been written so far, as it was written. */
  written(): string;
  /** What a person sees of it. */
  look(): VirtualTerminal;
  /** Resolves once a person would see it; rejects if the command ends without. */
  until(pattern: RegExp): Promise<void>;
  /** Keys, such as `\u0003` for Ctrl-C. */
  type(keys: string): void;
  /** Resolves to its exit code. */
  readonly ended: Promise<number | null>;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a line of shell on a terminal of 24 rows. */
export function onTerminal(scene: Scene, line: string, options: TerminalOptions = {}): OnTerminal {
  const { columns = 80, env = {} } = options;
  const command = `stty rows 24 cols ${columns}; exec ${line}`;
  const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
    cwd: scene.folder,
    env: { ...scene.env, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  // A terminal that goes away ends what runs on it.
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  void ended.then(() => clearTimeout(timer));
  const look = (): VirtualTerminal => {
    const terminal = virtualTerminal(columns);
    terminal.write(written);
    return terminal;
  };
  const shows = (pattern: RegExp): boolean => pattern.test(look().screen().join('\n'));
  return {
    written: () => written,
    look,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!shows(pattern)) return;
          child.stdout.off('data', check);
          resolve();
        };
        child.stdout.on('data', check);
        check();
        void ended.then(() =>
          reject(new Error(`It ended without ${pattern}:\n${look().screen().join('\n')}`)),
        );
      }),
    type: (keys) => void child.stdin.write(keys),
    ended,
  };
}

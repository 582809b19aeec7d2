import { onTestFinished } from 'vitest';
import { type Reply, toolUse } from './api-replies.ts';
import { CLAUDE_BIN_DIR } from './install-claude.ts';
import { endAllInLater } from './living-in.ts';
import { type ApiScript, type MessagesApi, startMessagesApi } from './messages-api.ts';
import { loopbackEnv } from './real-claude.ts';
import { type RalphEnd, runRalph, startRalph } from './run-ralph.ts';
import { makeScene, type Scene } from './scene.ts';

/** How to start ralph in such a scene. */
interface RealRunOptions {
  /** Added to the sealed environment; `undefined` takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A folder to work in, the real `claude` on PATH, and the stand-in that it talks to. */
export interface RealScene extends Pick<Scene, 'folder' | 'home' | 'write' | 'state' | 'notes'> {
  readonly api: MessagesApi;
  /** `ralph run --task-id t`, with `--prompt "Fix it."` unless it has another, and then `args`. */
  run(args?: readonly string[], options?: RealRunOptions): Promise<RalphEnd>;
  start(args?: readonly string[], options?: RealRunOptions): ReturnType<typeof startRalph>;
}

/** Makes one. Whatever is still alive of it when the test is over is ended then. */
export async function makeRealScene(script: ApiScript): Promise<RealScene> {
  const { folder, home, write, state, notes } = await makeScene();
  endAllInLater(home);
  const api = await startMessagesApi(script);
  onTestFinished(() => api.close());

  const words = (args: readonly string[]): readonly string[] => [
    ...['run', '--task-id', 't'],
    ...(args.includes('--prompt') ? [] : ['--prompt', 'Fix it.']),
    ...args,
  ];
  const around = ({ env = {} }: RealRunOptions) => {
    const all = Object.entries({ ...loopbackEnv(api), ...env });
    const set = all.filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      path: [CLAUDE_BIN_DIR],
      cwd: folder,
      home,
      env: Object.fromEntries(set),
    };
  };
  return {
    folder,
    home,
    write,
    state,
    notes,
    api,
    run: (args = [], options = {}) => runRalph(words(args), around(options)),
    start: (args = [], options = {}) => startRalph(words(args), around(options)),
  };
}

/** The arguments of a Bash tool that may run unasked. */
export const WITH_BASH = ['--allowed-tools', 'Bash'] as const;

/** A call of the Bash tool. */
export function bash(command: string): Reply {
  return toolUse('Bash', { command, description: 'A step' });
}

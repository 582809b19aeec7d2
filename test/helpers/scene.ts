import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { STATE } from '../../src/effects/trust/seal.ts';
import { type FakeClaude, makeFakeClaude } from './fake-claude.ts';
import type { Turn } from './fake-turn.ts';
import {
  RALPH,
  type RalphEnd,
  type RunRalphOptions,
  runRalph,
  sandboxVariables,
  startRalph,
} from './run-ralph.ts';
import { STATE_HOME } from './state-home.ts';
import { tempFolder } from './temp-folder.ts';
import { ownSeal } from './test-seal.ts';

/** What a JSON file or line holds, as loosely as a test may take it. */
// biome-ignore lint/suspicious/noExplicitAny: what is in it is what the test is about
export type Json = any;

/** A note for a human, taken apart. */
interface Note {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly frontMatter: Json;
  /** What stands in its block of shell code. */
  readonly command: string;
}

/** A folder to work in, with a scripted `claude` and this `ralph` first on PATH. */
export interface Scene {
  /** Where ralph is started: working folder and vault in one, empty at the beginning. */
  readonly folder: string;
  readonly home: string;
  readonly fake: FakeClaude;
  /** The environment of a shell in which `ralph` and `claude` are found. */
  readonly env: Readonly<Record<string, string>>;
  /** `ralph run --prompt "Fix it" --delay 0 --task-id t`, and then `args`. */
  run(args?: readonly string[], options?: RunRalphOptions): Promise<RalphEnd>;
  /** `ralph`, and then `args`. */
  ralph(args: readonly string[], options?: RunRalphOptions): Promise<RalphEnd>;
  start(args: readonly string[], options?: RunRalphOptions): ReturnType<typeof startRalph>;
  /** Writes a file below the folder, with the folders above it. */
  write(path: string, content: string | Uint8Array): Promise<string>;
  read(path: string): string;
  has(path: string): boolean;
  /** The names in a folder below the folder, sorted; none where there is no such folder. */
  names(path?: string): readonly string[];
  /** The state of a task, wherever it lies now. */
  state(taskId?: string): Json;
  /** The full name of the ref of a snapshot of task `t`. */
  snapshot(name: string | number): string;
  /** Writes the state of an open task as this user's ralph would. */
  writeState(state: Json): Promise<string>;
  /** The lines of the journal. */
  journal(): readonly Json[];
  /** The notes in `Needs_Action`. */
  notes(): readonly Note[];
  /** What the agent was told in its call of that number, from 1. */
  prompt(call: number): string;
  /** Makes the folder a git work tree with one commit of all that is in it. */
  makeRepository(): void;
}

/** Makes one; without turns its `claude` has nothing to say and exits 97. */
export async function makeScene(turns: Turn | readonly Turn[] = []): Promise<Scene> {
  const root = await tempFolder();
  const [folder, home, bin] = [join(root, 'work'), join(root, 'home'), join(root, 'bin')];
  await Promise.all([mkdir(folder), mkdir(home)]);
  const fake = await makeFakeClaude(bin, turns);
  await symlink(RALPH, join(bin, 'ralph'));
  const defaults = { path: [bin], cwd: folder, home };

  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const has = (path: string): boolean => existsSync(join(folder, path));
  const names = (path = '.'): readonly string[] =>
    has(path) ? readdirSync(join(folder, path)).sort() : [];

  const scene: Scene = {
    folder,
    home,
    fake,
    env: {
      PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      XDG_STATE_HOME: STATE_HOME,
      ...sandboxVariables([bin]),
    },
    run: (args = [], options = {}) => runRalph([...RUN, ...args], { ...defaults, ...options }),
    ralph: (args, options = {}) => runRalph(args, { ...defaults, ...options }),
    start: (args, options = {}) => startRalph(args, { ...defaults, ...options }),
    async write(path, content) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    read,
    has,
    names,
    state(taskId = 't') {
      const current = join(folder, `.ralph_state/${taskId}.json`);
      // ralph may move it into the history at any moment.
      return JSON.parse(readIfThere(current) ?? read(`.ralph_state/history/${taskId}.json`));
    },
    snapshot: (name) => `${scene.state().git.snapshots}/${name}`,
    writeState: ({ sum, ...state }) =>
      scene.write(
        `.ralph_state/${state.task_id}.json`,
        ownSeal(join(folder, '.ralph_state')).close(`${JSON.stringify(state, null, 2)}\n`, STATE),
      ),
    journal: () => jsonLines(read('.ralph_state/events.jsonl')),
    notes: () =>
      names('Needs_Action').map((name) => {
        const text = read(`Needs_Action/${name}`);
        const frontMatter = /^---\n([\s\S]*?\n)---\n/.exec(text)?.[1] ?? '';
        // What is quoted before may hold anything, headings and fences too.
        const lastPart = text.slice(text.lastIndexOf('\n## What to do next\n'));
        const command = /^(`{3,})sh\n([\s\S]*?)\n\1$/m.exec(lastPart)?.[2] ?? '';
        const path = join(folder, 'Needs_Action', name);
        return { name, path, text, frontMatter: parse(frontMatter), command };
      }),
    prompt: (call) => fake.calls()[call - 1]?.stdin ?? '',
    makeRepository: () => makeRepository(folder, home),
  };
  return scene;
}

/** Makes a folder a git work tree with one commit of all that is in it. */
export function makeRepository(folder: string, home: string): void {
  // For whatever of the test commits later, too.
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = Test\nemail = test@localhost\n');
  for (const args of ['init --quiet', 'add --all', 'commit --quiet --allow-empty -m Start']) {
    execFileSync('git', args.split(' '), {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
    });
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** What `Scene.run` always gives. */
const RUN = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't'] as const;

/** JSON Lines, each of which must parse. */
export function jsonLines(text: string): readonly Json[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Lines by which a `claude` calls a tool and is answered, for the `raw` of a turn. */
export function toolCall(id: string, name: string, input: object = {}): readonly string[] {
  const call = { type: 'tool_use', id, name, input };
  const answer = { type: 'tool_result', tool_use_id: id, content: 'ok', is_error: false };
  return [
    { type: 'assistant', message: { id: `msg_${id}`, role: 'assistant', content: [call] } },
    { type: 'user', message: { role: 'user', content: [answer] } },
  ].map((line) => JSON.stringify({ ...line, parent_tool_use_id: null }));
}

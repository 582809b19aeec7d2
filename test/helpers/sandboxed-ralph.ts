import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgram } from './processes.ts';
import { asUser, outside, type SandboxScene, sandboxScene } from './sandbox-scene.ts';

/** A scene in which whole runs of ralph work in a sandbox, with a program in the place of the agent. */
export interface SandboxedRuns extends SandboxScene {
  readonly agent: string;
}

/** Makes a scene whose agent is a program of perl that has read its prompt and says what `claude` says. */
export async function sandboxedRuns(body: string): Promise<SandboxedRuns> {
  const scene = await sandboxScene();
  const agent = join(scene.base, 'bin', 'claude');
  await outside(
    scene,
    'rm -r ralph.config.yaml .ralph_state "$HOME/.local/state"; git commit -qam less; mkdir "$BASE/bin"',
  );
  await outside(scene, `cat > '${agent}' <<'END_OF_AGENT'\n${AGENT}\n${body}\nEND_OF_AGENT`);
  await outside(scene, `chmod 755 '${agent}'`);
  return { ...scene, agent };
}

const AGENT = `#!/usr/bin/perl
use strict;
$| = 1;
my $prompt = do { local $/; <STDIN> };
sub say_line { print @_, "\\n" }
sub result {
  my ($text, $cost) = @_;
  say_line '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"' . $text . '"}]}}';
  say_line '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"' . $text . '","session_id":"5f0f0b6e-0000-4000-8000-000000000001","total_cost_usd":' . $cost . ',"usage":{"input_tokens":10,"output_tokens":5}}';
  exit 0;
}
say_line '{"type":"system","subtype":"init","session_id":"5f0f0b6e-0000-4000-8000-000000000001","model":"m","tools":[]}';`;

/** What an agent says when its task is done. */
export const DONE = "result('<promise>TASK_COMPLETE</promise>', 0.25);";

/** Returns the command that starts the installed ralph on the vault of a scene. */
export function ralphCommand(
  scene: SandboxScene,
  args: readonly string[],
  installation = INSTALLATION,
): readonly string[] {
  return [...installedRalph(args, installation), ...['--vault', scene.work]];
}

/** Returns the command that starts the installed ralph. */
export function installedRalph(
  args: readonly string[],
  installation = INSTALLATION,
): readonly string[] {
  const program = join(installation, 'node_modules', 'ralph-headless', 'bin', 'ralph.js');
  return [process.execPath, program, ...args];
}

const INSTALLATION = process.env.RALPH_TEST_INSTALLATION ?? '';

/** The arguments of a new run in the sandbox. */
export function newRun({ agent }: SandboxedRuns, ...more: readonly string[]): readonly string[] {
  return [
    ...['run', '--prompt', 'Do it.', '--task-id', 'T1', '--sandbox', '--agent-bin', agent],
    ...['--dangerously-skip-permissions', '--no-prevent-sleep', '--max-iterations', '3', ...more],
  ];
}

/** How a command ended. */
export interface RalphRan {
  /** Null if it was killed, or could not be started. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in the work folder of a scene, or in `cwd`. */
export function ranIn(
  scene: SandboxScene,
  command: readonly string[],
  { cwd = scene.work, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<RalphRan> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { env: { ...scene.env, ...env }, cwd, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        resolve({ exitCode: typeof code === 'number' ? code : null, stdout, stderr });
      },
    );
    child.stdin?.end();
  });
}

/** Runs ralph as the user of the tests. */
export function ranRalph(scene: SandboxScene, args: readonly string[]): Promise<RalphRan> {
  return ranIn(scene, asUser(ralphCommand(scene, args)));
}

/** Starts ralph as the user of the tests. It is ended with the test. */
export function startRalph(scene: SandboxScene, args: readonly string[]) {
  const [file = '', ...words] = asUser(ralphCommand(scene, args));
  return startProgram(file, words, { env: scene.env, cwd: scene.work });
}

/** Returns what the state of the task says. */
export async function stateOf(scene: SandboxScene) {
  const open = '.ralph_state/T1.json';
  return JSON.parse(await outside(scene, `cat ${open} || cat .ralph_state/history/T1.json`));
}

/** Returns the command lines of the living processes that work for a scene. */
export function livingIn({ base }: SandboxScene, ...marks: readonly string[]): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
        const isOfScene =
          [base, ...marks].some((mark) => command.includes(mark)) || environment.includes(base);
        // A zombie has no command line.
        return isOfScene && command !== '' ? [`${name} ${command}`] : [];
      } catch {
        return [];
      }
    });
}

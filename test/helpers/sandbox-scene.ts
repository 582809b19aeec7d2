import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { RefusedHost } from '../../src/core/agent/attempt.ts';
import type { AskedRules, SandboxRules } from '../../src/core/sandbox/rules.ts';
import type { DriveRequest } from '../fixtures/sandbox-drive.ts';

/** As which user the tests start what is in a sandbox, if root starts them: one that owns nothing else. */
export const TEST_USER = 61_234;
const isRoot = process.getuid?.() === 0;

/** A home folder, a repository with a submodule and a work tree beside it, and another repository. */
export interface SandboxScene {
  readonly base: string;
  readonly home: string;
  readonly work: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Makes it for the user of the tests, or copies one; it lives as long as the running test. */
export async function sandboxScene(template?: SandboxScene): Promise<SandboxScene> {
  const base = mkdtempSync(join(tmpdir(), 'ralph-scene-'));
  if (isRoot) chownSync(base, TEST_USER, TEST_USER);
  chmodSync(base, 0o755);
  onTestFinished(() => {
    // An agent may have taken the rights to its own folders.
    spawnSync('chmod', ['-R', 'u+rwX', base]);
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  });
  const env = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: join(base, 'home'),
    BASE: base,
    WORK: join(base, 'work'),
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C',
  };
  const scene = { base, home: env.HOME, work: env.WORK, env };
  await outside(scene, template === undefined ? SCENE : `cp -a '${template.base}/.' "$BASE"`);
  return scene;
}

const SCENE = `
set -e
mkdir -p "$HOME" "$BASE/tree-of-others"
cd "$HOME"
mkdir -p .ssh .aws .config/gh .npm/_logs .local/state/ralph .local/bin .codex .claude/commands .cache
echo SECRET-SSH > .ssh/id_rsa
echo SECRET-AWS > .aws/credentials
echo SECRET-NETRC > .netrc
echo SECRET-NPM > .npmrc
echo SECRET-GH > .config/gh/hosts.yml
echo SECRET-HISTORY > .bash_history
echo SECRET-CODEX > .codex/auth.json
echo SECRET-KEY > .local/state/ralph/key
echo SECRET-LOGIN > .claude/.credentials.json
echo '{}' > .claude/settings.json
echo 'true' > .bashrc
printf '[user]\\n\\tname = n\\n\\temail = n@example.com\\n[init]\\n\\tdefaultBranch = main\\n' > .gitconfig
for each in part neighbour; do
  git init -q "$BASE/$each"
  echo "$each" > "$BASE/$each/file"
  git -C "$BASE/$each" add file
  git -C "$BASE/$each" commit -qm "$each"
done
git init -q "$WORK"
cd "$WORK"
git -c protocol.file.allow=always submodule --quiet add "$BASE/part" sub
mkdir -p .ralph_state/task Pending_Approval .claude .vscode guarded src
echo '{}' > .ralph_state/task/state.json
echo 'may I?' > Pending_Approval/APPROVAL_task_1.md
echo '{}' > .claude/settings.json
echo '{}' > .mcp.json
echo '{}' > .vscode/tasks.json
echo 'verify: true' > ralph.config.yaml
echo 'the task' > prompt.md
echo 'protected' > guarded/test.txt
echo '{"scripts":{"test":"true"}}' > package.json
echo 'int main;' > src/main.c
printf '.ralph_state\\nPending_Approval\\n' > .gitignore
ln -s "$HOME/.ssh/id_rsa" key
ln "$BASE/neighbour/file" linked
git add -A
git commit -qm first
git worktree add -q "$BASE/tree" -b other
rm -rf .git/modules/sub/hooks
`;

/** What came of a script. */
interface Ran {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a shell script as the user of the tests, without a sandbox, in the work folder if that is there. */
export async function outside(scene: SandboxScene, script: string): Promise<string> {
  const words = ['/bin/sh', '-c', `cd "$WORK" 2>/dev/null || cd /\n${script}`];
  return started(scene, asUser(words));
}

/** Whether a shell script, run outside, ends with 0. */
export function holdsOutside(scene: SandboxScene, script: string): Promise<boolean> {
  return outside(scene, script).then(
    () => true,
    () => false,
  );
}

/** Runs a command with the variables of the scene and returns what it printed. Rejects if it fails. */
export async function started(
  scene: SandboxScene,
  [file = '', ...args]: readonly string[],
): Promise<string> {
  const ran = promisify(execFile)(file, args, {
    env: scene.env,
    cwd: scene.base,
    maxBuffer: 64 * 1024 * 1024,
  });
  ran.child.stdin?.end();
  return (await ran).stdout;
}

/** Prefixes a command, so that it runs as the user of the tests. */
export function asUser(command: readonly string[]): readonly string[] {
  if (!isRoot) return command;
  return [
    '/usr/bin/setpriv',
    `--reuid=${TEST_USER}`,
    `--regid=${TEST_USER}`,
    '--clear-groups',
    ...command,
  ];
}

/** What the driver of a sandbox has said. */
export interface Driven {
  readonly rules: SandboxRules | null;
  readonly outerPath: string;
  readonly ran: readonly Ran[];
  readonly refused: readonly RefusedHost[];
  readonly planted: readonly string[];
  readonly warnings: readonly string[];
  readonly refusal: {
    readonly code: string;
    readonly sentence: string;
    readonly exitCode: number;
  } | null;
}

/** What a test asks of a sandbox, beyond the scripts. */
export interface SandboxWish {
  readonly cwd?: string;
  readonly asked?: Partial<AskedRules>;
  readonly fixed?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly scripts: DriveRequest['scripts'];
  readonly stay?: boolean;
  /** The installation whose ralph opens it. */
  readonly installation?: string;
}

/** Returns the command that opens a sandbox around the scene and runs scripts in it. */
export function driver(scene: SandboxScene, wish: SandboxWish): readonly string[] {
  const { work } = scene;
  const nothing: AskedRules = {
    ...{ allowWrite: [], denyRead: [], allowRead: [], allowNet: [], keepEnv: [] },
    ...{ unixSockets: false, checksInside: true },
  };
  const request: DriveRequest = {
    sandbox: {
      cwd: wish.cwd ?? work,
      vault: work,
      stateDir: join(work, '.ralph_state'),
      doneFolder: join(work, 'Done'),
      keyFile: null,
      fixed: wish.fixed ?? [],
      agents: ['claude'],
      asked: { ...nothing, ...wish.asked },
    },
    scripts: wish.scripts,
    stay: wish.stay ?? false,
  };
  const place = wish.installation ?? process.env.RALPH_TEST_INSTALLATION ?? '';
  const program = join(place, 'node_modules', 'ralph-headless', 'dist', 'sandbox-drive.js');
  return asUser([process.execPath, program, JSON.stringify(request)]);
}

/** Opens a sandbox around the scene, runs the scripts in it, and closes it. */
export async function inSandbox(scene: SandboxScene, wish: SandboxWish): Promise<Driven> {
  const own = { ...scene, env: { ...scene.env, ...wish.env } };
  return readDriven(await started(own, driver(scene, wish)));
}

/** Reads what the driver has printed. */
export function readDriven(stdout: string): Driven {
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const opened = lines.find((line) => 'opened' in line)?.opened;
  const met = lines.find((line) => 'met' in line)?.met;
  return {
    rules: opened?.rules ?? null,
    outerPath: opened?.outerPath ?? '',
    ran: lines.filter((line) => 'ran' in line).map((line) => line.ran),
    refused: met?.refused ?? [],
    planted: met?.planted ?? [],
    warnings: lines.filter((line) => 'warning' in line).map((line) => line.warning),
    refusal: lines.find((line) => 'refusal' in line)?.refusal ?? null,
  };
}

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Reply, toolUse } from './api-replies.ts';
import { agentBinFolder, type RealAgent } from './install-agents.ts';
import { endAllInLater } from './living-in.ts';
import { type ApiScript, type MessagesApi, startMessagesApi } from './messages-api.ts';
import { type RalphEnd, runRalph, startRalph } from './run-ralph.ts';
import { makeScene, type Scene } from './scene.ts';
import { createModelSender, kindOfModelCall } from './send-model-reply.ts';

/** How a real agent is tied to the stand-in, and how its shell tool is called. */
interface Setup {
  env(url: string): Readonly<Record<string, string>>;
  /** Files below its empty HOME. */
  readonly files?: Readonly<Record<string, object>>;
  /** What goes before the other words after `--`. */
  passthrough?(url: string): readonly string[];
  shell(command: string): Reply;
  /** Where it keeps its sessions, below HOME. */
  readonly sessions: string;
}

const chat = (name: string, more: object) => (command: string) =>
  toolUse(name, { command, ...more });
const LOOP = {
  ...{ npm: '@ai-sdk/openai-compatible', models: {} },
  models: { m1: { limit: { context: 2_000_000, output: 8000 }, cost: { input: 1, output: 2 } } },
};

const SETUPS: Readonly<Record<RealAgent, Setup>> = {
  codex: {
    env: () => ({ LOOP_KEY: 'sk-loopback' }),
    passthrough: (url) => [
      '-c',
      `model_providers.loop={name="loop",base_url="${url}/v1",env_key="LOOP_KEY",wire_api="responses"}`,
      ...['-c', 'model_provider="loop"', '-c', 'analytics.enabled=false', '--disable', 'plugins'],
      ...['-m', 'gpt-5'],
    ],
    shell: (cmd) => toolUse('exec_command', { cmd, yield_time_ms: 30_000 }),
    sessions: '.codex/sessions',
  },
  gemini: {
    env: (url) => ({
      ...{
        GEMINI_API_KEY: 'sk-loopback',
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_MODEL: 'gemini-2.5-flash',
      },
    }),
    files: {
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
      },
    },
    shell: chat('run_shell_command', {}),
    sessions: '.gemini/tmp',
  },
  opencode: {
    env: (url) => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...{ model: 'loop/m1', small_model: 'loop/m1' },
        provider: { loop: { ...LOOP, options: { baseURL: `${url}/v1`, apiKey: 'sk-loopback' } } },
      }),
    }),
    shell: chat('bash', { description: 'A step' }),
    sessions: '.local/share/opencode',
  },
  qwen: {
    env: (url) => ({
      OPENAI_API_KEY: 'sk-loopback',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'm1',
    }),
    files: {
      '.qwen/settings.json': {
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
      },
    },
    shell: chat('run_shell_command', { is_background: false }),
    sessions: '.qwen/projects',
  },
  copilot: {
    env: (url) => ({
      ...{ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: 'sk-loopback' },
      ...{ COPILOT_MODEL: 'm1', COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
    }),
    shell: chat('bash', { description: 'A step' }),
    sessions: '.copilot/session-state',
  },
};

/** A folder to work in, one real agent on PATH, and the stand-in that it talks to. */
export interface AgentScene
  extends Pick<Scene, 'folder' | 'home' | 'write' | 'has' | 'state' | 'notes'> {
  readonly api: MessagesApi;
  /** Where the agent keeps its sessions. */
  readonly sessions: string;
  /** What ties it to the stand-in, for after `--`. */
  readonly passthrough: readonly string[];
  /** `ralph run --agent … --task-id t`, with `--prompt "Fix it."` unless `args` have another. */
  run(args?: readonly string[]): Promise<RalphEnd>;
  start(
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): ReturnType<typeof startRalph>;
  /** Any other command of ralph, with the same environment. */
  ralph(args: readonly string[]): Promise<RalphEnd>;
}

/** Makes a scene. What is still alive of it when the test is over is ended. */
export async function makeAgentScene(
  agent: RealAgent,
  script: ApiScript,
  /** A tool that opencode denies; the others ask by themselves. */
  { denies }: { readonly denies?: string } = {},
): Promise<AgentScene> {
  const { folder, home, write, has, state, notes } = await makeScene();
  endAllInLater(home);
  const setup = SETUPS[agent];
  const api = await startMessagesApi(script, {
    kindOf: kindOfModelCall,
    send: createModelSender(),
  });
  onTestFinished(() => api.close());
  for (const [path, content] of Object.entries(setup.files ?? {})) {
    const file = join(home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(content));
  }
  const around = {
    path: [agentBinFolder(agent)],
    ...{ cwd: folder, home },
    // Whatever is meant for another host goes to the stand-in, which refuses it.
    env: {
      ...{ HTTP_PROXY: api.url, HTTPS_PROXY: api.url, NO_PROXY: '127.0.0.1' },
      ...setup.env(api.url),
      ...(denies !== undefined && { OPENCODE_PERMISSION: JSON.stringify({ [denies]: 'deny' }) }),
    },
  };
  const passthrough = setup.passthrough?.(api.url) ?? [];
  const words = (args: readonly string[]): readonly string[] => {
    const [own, passed] = splitAt(args, '--');
    return [
      ...['run', '--agent', agent, '--task-id', 't', '--delay', '0', '--no-ask-back'],
      ...(args.includes('--prompt') || args.includes('--prompt-file')
        ? []
        : ['--prompt', 'Fix it.']),
      ...own,
      ...['--', ...passthrough, ...passed],
    ];
  };
  return {
    ...{ folder, home, write, has, state, notes, api },
    sessions: join(home, setup.sessions),
    passthrough,
    run: (args = []) => runRalph(words(args), around),
    start: (args = [], env = {}) =>
      startRalph(words(args), { ...around, env: { ...around.env, ...env } }),
    ralph: (args) => runRalph(args, around),
  };
}

/** A call of the agent's shell tool. */
export function shell(agent: RealAgent, command: string): Reply {
  return SETUPS[agent].shell(command);
}

function splitAt(args: readonly string[], word: string): [readonly string[], readonly string[]] {
  const at = args.indexOf(word);
  return at < 0 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

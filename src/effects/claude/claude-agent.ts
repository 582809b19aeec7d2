import type { DoctorFinding } from '../../core/agent/finding.ts';
import type { AgentKind, AgentOptions, AgentTurn } from '../agents/agent.ts';
import { programPlace } from '../agents/json-agent.ts';
import { checkLogin } from './login-signs.ts';
import { findOtherLoops } from './other-loops.ts';
import { findOwnSandbox, withoutOwnSandbox } from './own-sandbox.ts';
import { createClaudeStream } from './stream.ts';

/** The environment variable for how many milliseconds `claude --print` waits for sub-agents in the background. */
const CEILING = 'CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS';
/** The time left for the agent's answer after that wait. */
const LAST_STEPS_MS = 10_000;
const SHORTEST_CEILING_MS = 1_000;
/** In Node, a longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function ceilingMs(limitMs: number): number {
  const left = Math.max(SHORTEST_CEILING_MS, Math.round(limitMs) - LAST_STEPS_MS);
  return Math.min(left, LONGEST_TIMER_MS);
}

/**
 * Returns the arguments for `claude`, without the prompt. Joins a text to its flag with `=`, because
 * `claude` could take a separate argument for a flag or for one more tool.
 */
export function claudeArguments(
  { settings, prefixArgs = [], passthrough, inSandbox, cwd }: Omit<AgentOptions, 'env'>,
  turn: AgentTurn,
): string[] {
  const { allowedTools, model, permissionMode, dangerouslySkipPermissions } = settings;
  return [
    ...prefixArgs,
    '--print',
    // For `claude`, a comma inside the parentheses of a pattern does not separate tools.
    ...(allowedTools.length > 0 ? [`--allowedTools=${allowedTools.join(',')}`] : []),
    '--verbose',
    '--output-format',
    'stream-json',
    ...(model === null ? [] : [`--model=${model}`]),
    ...(permissionMode === null ? [] : [`--permission-mode=${permissionMode}`]),
    ...(dangerouslySkipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(turn.resumeSession === null ? [] : [`--resume=${turn.resumeSession}`]),
    ...(turn.budgetUsd === null ? [] : ['--max-budget-usd', turn.budgetUsd.toFixed(4)]),
    ...(inSandbox === true ? withoutOwnSandbox(passthrough, cwd) : passthrough),
  ];
}

/** Returns the agent that runs `claude --print` and reads its `stream-json` output. */
export function claudeAgent(options: AgentOptions): AgentKind {
  const { env, cwd } = options;
  return {
    ...programPlace({ program: 'claude', ownFolder: '.claude/local' }, options),
    args: (turn) => claudeArguments(options, turn),
    examine: () => [...rootRefusal(options), checkLogin(cwd, env)],
    // By default, `claude` stops background sub-agents after 10 minutes. Here they get almost the whole time limit.
    variables: (limitMs) =>
      env[CEILING] === undefined ? { [CEILING]: String(ceilingMs(limitMs)) } : {},
    interferences: () => [
      ...findOtherLoops(cwd, env),
      ...(options.inSandbox === true ? findOwnSandbox(cwd, env) : []),
    ],
    read: createClaudeStream,
  };
}

function rootRefusal({ settings, env }: AgentOptions): readonly DoctorFinding[] {
  const isRefused =
    settings.dangerouslySkipPermissions && process.getuid?.() === 0 && env.IS_SANDBOX !== '1';
  if (!isRefused) return [];
  const says = 'agent: claude refuses --dangerously-skip-permissions for root';
  const remedy = 'run as another user, or set IS_SANDBOX=1 if this is a sandbox container';
  return [{ kind: 'problem', says, remedy }];
}

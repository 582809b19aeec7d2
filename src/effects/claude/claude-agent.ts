import path from 'node:path';
import type { AgentKind, AgentTurn } from '../agents/agent.ts';
import { homeFolder } from '../files/home-folder.ts';
import { findProgram } from '../processes/find-program.ts';
import { createClaudeStream } from './stream.ts';

export interface ClaudeOptions {
  /** A path or a name; null means `claude`. */
  readonly bin: string | null;
  /** Words between the program and ralph's own flags, for a program that is a script. */
  readonly prefixArgs: readonly string[];
  readonly model: string | null;
  readonly permissionMode: string | null;
  readonly allowedTools: readonly string[];
  readonly skipPermissions: boolean;
  /** The user's arguments after `--`. */
  readonly passthrough: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Where the installers put it; cron's bare PATH does not include these. */
function installFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const home = homeFolder(env);
  return [
    ...(home === null
      ? []
      : [path.join(home, '.local', 'bin'), path.join(home, '.claude', 'local')]),
    '/usr/local/bin',
    '/opt/homebrew/bin',
  ];
}

/** Two refusals of the same key are no accident; `claude` would retry for three minutes. */
const HOPELESS_REFUSALS = 2;

/**
 * Returns the arguments for `claude`, without the prompt. A value is joined to its flag with `=`:
 * as a word of its own it could be taken for a flag, and would end a list of tools.
 */
export function claudeArguments(
  options: Omit<ClaudeOptions, 'bin' | 'env' | 'cwd'>,
  turn: AgentTurn,
): string[] {
  const { allowedTools, model, permissionMode, skipPermissions } = options;
  return [
    ...options.prefixArgs,
    '--print',
    // A comma inside parentheses is part of the pattern, not a separator.
    ...(allowedTools.length > 0 ? [`--allowedTools=${allowedTools.join(',')}`] : []),
    '--verbose',
    '--output-format',
    'stream-json',
    ...(model === null ? [] : [`--model=${model}`]),
    ...(permissionMode === null ? [] : [`--permission-mode=${permissionMode}`]),
    ...(skipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(turn.resumeSession === null ? [] : [`--resume=${turn.resumeSession}`]),
    ...(turn.budgetUsd === null ? [] : ['--max-budget-usd', turn.budgetUsd.toFixed(4)]),
    ...options.passthrough,
  ];
}

/** The `claude` command line, read through its structured output. */
export function claudeAgent(options: ClaudeOptions): AgentKind {
  return {
    owesResult: true,
    locate(turn) {
      const found = findProgram({
        name: options.bin ?? 'claude',
        env: options.env,
        cwd: options.cwd,
        further: options.bin === null ? installFolders(options.env) : [],
      });
      return 'missing' in found
        ? found
        : { file: found.file, args: claudeArguments(options, turn) };
    },
    wanted: (turn) => [options.bin ?? 'claude', ...claudeArguments(options, turn)],
    read(listener, signs) {
      const stream = createClaudeStream({
        onActivity: (activity) => {
          signs.working();
          listener.activity(activity);
        },
        onText: (text) => listener.text(text),
        onRetry: (retry, refusals) => {
          listener.retry(retry);
          if (refusals >= HOPELESS_REFUSALS) signs.hopeless('hopeless-retries');
          else signs.retrying(retry.delayMs);
        },
        onResult: () => signs.resultGiven(),
      });
      return stream;
    },
  };
}

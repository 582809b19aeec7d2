import { Chalk } from 'chalk';
import { planRun, type RunPlan, startRun } from '../../compose.ts';
import { describeCompletion } from '../../core/completion.ts';
import { oneLine } from '../../core/material.ts';
import { judgePromise } from '../../core/promise.ts';
import type { Settings } from '../../core/settings.ts';
import { defaultTaskId } from '../../core/task-id.ts';
import { UsageError } from '../../errors.ts';
import {
  type AgentName,
  PERMISSIONS_NOTICE,
  promptStatesPromise,
  startLine,
} from '../../report/messages.ts';
import { allOf, type View } from '../../report/view.ts';
import { startFolder } from '../place.ts';
import { collectSettings } from '../settings/collect.ts';
import { type ReadFlags, readFlags } from '../settings/flags.ts';

/** `ralph run`: checks everything, runs the task, prints the result. Resolves to the exit code. */
export async function runCommand(argv: readonly string[], help: () => string): Promise<number> {
  const flags = readFlags(argv);
  if (flags.wantsHelp) {
    process.stdout.write(help());
    return 0;
  }
  const startDir = startFolder();
  const collected = await collectSettings({ flags: flags.layer, env: process.env, startDir });
  const { settings } = collected;
  const planned = await planRun({
    ...collected,
    passthrough: flags.passthrough,
    startDir,
    env: process.env,
    readStdin,
    newTaskId: () => defaultTaskId(new Date().toISOString(), Math.random()),
  });
  const problems = [
    ...flags.problems,
    ...collected.problems,
    ...('problems' in planned ? planned.problems : []),
  ];
  if ('problems' in planned || problems.length > 0) {
    throw new UsageError([...problems, ...collected.notices].map((each) => oneLine(each, 2_000)));
  }
  const { plan } = planned;
  if (settings.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun(plan, collected.notices);
  }
  const view = await viewFor(settings, plan.policy.agent);
  for (const notice of [...collected.notices, ...announcements(plan)]) view.notice(notice);
  const { fields } = await startRun({ plan, view, again: againCommand(flags, plan) });
  if (!settings.json && fields.status === 'completed') printResult(fields.final_message ?? '');
  return fields.exit_code;
}

function printResult(message: string): void {
  if (message.trim() !== '')
    process.stdout.write(message.endsWith('\n') ? message : `${message}\n`);
}

/** What a person should know before the first iteration, one sentence each. */
export function announcements(plan: RunPlan): readonly string[] {
  const { policy } = plan;
  const start = startLine(plan.taskId, {
    maxIterations: policy.maxIterations,
    iterationTimeoutMs: policy.iterationTimeoutMs,
    taskTimeoutMs: plan.taskTimeoutMs,
    completion: describeCompletion(policy),
  });
  return [start, ...planWarnings(plan)];
}

/** What may not be what the user meant, one sentence each. */
export function planWarnings(plan: RunPlan): readonly string[] {
  const { policy, settings } = plan;
  const warnings: string[] = [];
  const allowsNothing =
    policy.agent === 'claude' &&
    settings.permissionMode === null &&
    settings.allowedTools.length === 0 &&
    !settings.dangerouslySkipPermissions &&
    plan.passthrough.length === 0;
  if (allowsNothing) warnings.push(PERMISSIONS_NOTICE);
  const { promise } = policy;
  const text = new TextDecoder().decode(plan.prompt);
  if (promise !== null && judgePromise(text, promise, policy.match, []).kind === 'stated') {
    warnings.push(promptStatesPromise(promise));
  }
  return warnings;
}

/** The views that the settings ask for; only what is needed is loaded. */
export async function viewFor(settings: Settings, agent: AgentName): Promise<View> {
  const { stderr, stdout } = process;
  const views: View[] = [];
  if (settings.json) {
    const { jsonView } = await import('../../report/json.ts');
    views.push(jsonView(stdout));
  }
  if (settings.quiet) {
    const { quietView } = await import('../../report/plain.ts');
    views.push(quietView(stderr, agent));
  } else if (isLiveTerminal()) {
    const { liveView } = await import('../../report/live.ts');
    const colorless = settings.noColor || Boolean(process.env.NO_COLOR);
    views.push(
      liveView({
        stream: stderr,
        colors: new Chalk({ level: colorless ? 0 : 1 }),
        verbose: settings.verbose,
        agent,
        nowMs: () => Date.now(),
      }),
    );
  } else {
    const { plainView } = await import('../../report/plain.ts');
    views.push(plainView(stderr, { verbose: settings.verbose, agent }));
  }
  return allOf(views);
}

/** Job runners give terminals of no width at all, on which nothing can be drawn. */
const NARROWEST_COLUMNS = 20;

function isLiveTerminal(): boolean {
  const { stderr } = process;
  return stderr.isTTY && stderr.columns >= NARROWEST_COLUMNS && process.env.TERM !== 'dumb';
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Longer prompts are taken from the copy that lies beside the state. */
const PASTEABLE_CHARS = 2_000;

/** The command that runs the same task again, fit to be pasted into a shell. */
function againCommand(flags: ReadFlags, plan: RunPlan): string {
  const words = [...flags.own];
  const isWritten = isPlainPrompt(flags, plan);
  if (!isWritten) words.splice(0, words.length, ...withoutPrompt(words), '--prompt', '-');
  if (flags.layer.taskId === undefined) words.push('--task-id', plan.taskId);
  if (flags.passthrough.length > 0) words.push('--', ...flags.passthrough);
  const copy = `${plan.stateDir}/${plan.taskId}/prompt.md`;
  const input = isWritten ? '' : ` < ${shellQuote(copy)}`;
  return `cd ${shellQuote(process.cwd())} && ralph run ${words.map(shellQuote).join(' ')}${input}`;
}

/** Whether the prompt stands in the flags as it is, or in a file that will still be there. */
function isPlainPrompt(flags: ReadFlags, plan: RunPlan): boolean {
  const { prompt } = plan.settings;
  if (flags.layer.promptFile !== undefined) return plan.promptFile !== null;
  return (
    flags.layer.prompt !== undefined && prompt !== '-' && (prompt?.length ?? 0) <= PASTEABLE_CHARS
  );
}

const PROMPT_FLAGS = ['--prompt', '-p', '--prompt-file'];

function withoutPrompt(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => {
    const isFlag = PROMPT_FLAGS.some((flag) => word === flag || word.startsWith(`${flag}=`));
    return !isFlag && !PROMPT_FLAGS.includes(words[index - 1] ?? '');
  });
}

function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

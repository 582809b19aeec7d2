import { Chalk } from 'chalk';
import { planRun, type RunPlan, startRun } from '../../compose.ts';
import { describeCompletion } from '../../core/completion.ts';
import { withoutControls } from '../../core/material.ts';
import { judgePromise } from '../../core/promise.ts';
import type { Settings } from '../../core/settings.ts';
import { defaultTaskId } from '../../core/task-id.ts';
import { UsageError } from '../../errors.ts';
import { PERMISSIONS_NOTICE, promptStatesPromise, startLine } from '../../report/messages.ts';
import { allOf, type View } from '../../report/view.ts';
import { resolveSettings } from '../options.ts';
import type { RunArguments } from '../program.ts';

/** `ralph run`: checks everything, runs the task, prints the result. Resolves to the exit code. */
export async function runTaskCommand(args: RunArguments): Promise<number> {
  const { settings, given, problems } = resolveSettings(args.written);
  const found = [...args.problems, ...problems];
  const planned = await planRun({
    settings,
    given,
    passthrough: args.passthrough,
    startDir: process.cwd(),
    env: process.env,
    readStdin,
    newTaskId: () => defaultTaskId(new Date().toISOString(), Math.random()),
  });
  if ('problems' in planned) throw new UsageError([...found, ...planned.problems]);
  if (found.length > 0) throw new UsageError(found);
  const { plan } = planned;
  const view = await viewFor(settings);
  announce(plan, view);
  const { fields } = await startRun({ plan, view, again: againCommand(args, plan) });
  if (!settings.json && fields.status === 'completed' && fields.final_message !== null) {
    const message = withoutControls(fields.final_message);
    process.stdout.write(message.endsWith('\n') ? message : `${message}\n`);
  }
  return fields.exit_code;
}

/** What a person should know before the first iteration. */
export function announce(plan: RunPlan, view: View): void {
  const { policy, settings } = plan;
  view.notice(
    startLine(plan.taskId, {
      maxIterations: policy.maxIterations,
      iterationTimeoutMs: policy.iterationTimeoutMs,
      taskTimeoutMs: plan.taskTimeoutMs,
      completion: describeCompletion(policy),
    }),
  );
  const allowsNothing =
    policy.agent === 'claude' &&
    settings.permissionMode === null &&
    settings.allowedTools.length === 0 &&
    !settings.dangerouslySkipPermissions &&
    plan.passthrough.length === 0;
  if (allowsNothing) view.notice(PERMISSIONS_NOTICE);
  const { promise } = policy;
  const text = new TextDecoder().decode(plan.prompt);
  if (promise !== null && judgePromise(text, promise, policy.match, []).kind === 'stated') {
    view.notice(promptStatesPromise(promise));
  }
}

/** The views that the settings ask for; only what is needed is loaded. */
export async function viewFor(settings: Settings): Promise<View> {
  const { stderr, stdout } = process;
  const views: View[] = [];
  if (settings.json) {
    const { jsonView } = await import('../../report/json.ts');
    views.push(jsonView(stdout));
  }
  if (settings.quiet) {
    const { quietView } = await import('../../report/plain.ts');
    views.push(quietView(stderr));
  } else if (stderr.isTTY && process.env.TERM !== 'dumb') {
    const { liveView } = await import('../../report/live.ts');
    const colorless = settings.noColor || Boolean(process.env.NO_COLOR);
    views.push(
      liveView({
        stream: stderr,
        colors: new Chalk({ level: colorless ? 0 : 1 }),
        verbose: settings.verbose,
        nowMs: () => performance.now(),
      }),
    );
  } else {
    const { plainView } = await import('../../report/plain.ts');
    views.push(plainView(stderr, { verbose: settings.verbose }));
  }
  return allOf(views);
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Longer prompts are taken from the copy that lies beside the state. */
const PASTEABLE_CHARS = 2_000;

/** The command that runs the same task again, fit to be pasted into a shell. */
function againCommand(args: RunArguments, plan: RunPlan): string {
  const fromCopy =
    plan.settings.prompt === '-' || (plan.settings.prompt?.length ?? 0) > PASTEABLE_CHARS;
  const words = [...args.argv];
  if (fromCopy) {
    for (const flag of ['--prompt', '-p']) {
      const at = words.indexOf(flag);
      if (at !== -1) words.splice(at, 2, '--prompt', '-');
    }
  }
  if (!words.includes('--task-id')) words.push('--task-id', plan.taskId);
  if (args.passthrough.length > 0) words.push('--', ...args.passthrough);
  const input = fromCopy ? ` < ${shellQuote(`${plan.stateDir}/${plan.taskId}/prompt.md`)}` : '';
  return `cd ${shellQuote(process.cwd())} && ralph run ${words.map(shellQuote).join(' ')}${input}`;
}

function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

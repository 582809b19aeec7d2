import { safeJson } from '../../core/text/safe-json.ts';
import { lastMessageIn } from '../../effects/claude/session-transcript.ts';
import { parseObject } from '../../effects/files/json-fields.ts';
import { messageOf } from '../../errors.ts';
import { RalphService } from '../../service/ralph-service.ts';
import type { TaskFolders } from './named-folders.ts';
import { allowStop, askTask, type CheckedTask, taskToCheck } from './stop-question.ts';

/** The limit for the input of a stop hook, which is usually a few hundred bytes and the agent's last message. */
const INPUT_MAX_BYTES = 16 * 1024 * 1024;

/** Answers a stop hook of Claude Code. Always resolves to 0: a session that cannot end is worse than an open task. */
export async function checkInHook(named: CheckedTask, place: () => TaskFolders): Promise<number> {
  try {
    const input = parseObject(await readStandardInput());
    if (input === null)
      return allowStop('--hook expects the JSON of a stop hook on standard input');
    const reason = await reasonToHold(named, place(), messageOfSession(input));
    if ('none' in reason) return allowStop(reason.none);
    process.stdout.write(`${safeJson({ decision: 'block', reason: reason.text })}\n`);
    return 0;
  } catch (error) {
    return allowStop(messageOf(error));
  }
}

async function reasonToHold(
  named: CheckedTask,
  place: TaskFolders,
  message: string | null,
): Promise<{ readonly text: string } | { readonly none: string }> {
  const { id } = named;
  const subject = taskToCheck(named, place);
  if ('none' in subject) return subject;
  const { state, standing } = subject.found;
  const question = { message, remembers: true, isNamed: id !== undefined };
  const answer = await askTask(subject.found, place, question);
  // Iterations are counted here only for a task of a program that uses ralph as a library: a loop counts its own.
  const isOurs = state.kept_by === 'library' && standing !== 'live';
  const mayGoOn = !isOurs || (await countStop(state.task_id, place, message));
  if (answer.kind === 'lets-go') return { none: `${state.task_id} blocks no agent: ${answer.why}` };
  if (mayGoOn) return { text: new TextDecoder().decode(answer.prompt) };
  return {
    none: `${state.task_id} blocks no agent: it has no iterations or no time left`,
  };
}

/** Counts an iteration with the agent's last message. Resolves to whether another iteration may follow. */
async function countStop(
  taskId: string,
  { vault, stateDir, keyFile }: TaskFolders,
  message: string | null,
): Promise<boolean> {
  const service = new RalphService({
    vault,
    stateDir,
    ...(keyFile === null ? {} : { keyFile }),
  });
  const report = { context: message ?? '' };
  return (await service.incrementIteration(taskId, report)).should_continue;
}

/** Returns the agent's last message, or null. Newer Claude Code passes it along, since the transcript may lack it. */
function messageOfSession({ last_assistant_message: last, transcript_path: file }: HookInput) {
  if (typeof last === 'string') return last;
  return typeof file === 'string' ? lastMessageIn(file) : null;
}

interface HookInput {
  readonly last_assistant_message?: unknown;
  readonly transcript_path?: unknown;
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) return '';
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > INPUT_MAX_BYTES) return '';
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

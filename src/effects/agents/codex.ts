import { type JsonObject, objectAt, objectsAt, stringAt } from '../files/json-fields.ts';
import { tokensAt } from './event-fields.ts';
import { jsonAgent } from './json-agent.ts';
import type { Sink } from './sink.ts';

const SANDBOXES: Readonly<Record<string, string>> = {
  acceptEdits: 'workspace-write',
  plan: 'read-only',
};

/** The agent that runs `codex exec --json` and reads its events. */
export const codexAgent = jsonAgent({
  program: 'codex',
  args({ resumeSession }, { settings, passthrough, inSandbox }) {
    const { model, permissionMode, dangerouslySkipPermissions } = settings;
    const mode = permissionMode === null ? null : (SANDBOXES[permissionMode] ?? permissionMode);
    // The sandbox of codex cannot start inside another one, so it is turned off, unless it has to prevent writing.
    const isOff = inSandbox === true && mode === 'workspace-write';
    const sandbox = isOff ? 'danger-full-access' : mode;
    return [
      ...['exec', '--json', '--skip-git-repo-check'],
      ...(model === null ? [] : ['-m', model]),
      ...(dangerouslySkipPermissions
        ? ['--dangerously-bypass-approvals-and-sandbox']
        : sandbox === null
          ? []
          : ['-s', sandbox]),
      ...passthrough,
      // Resumes only a UUID: for any other name, codex would begin a new session without a word.
      ...(resumeSession !== null && UUID.test(resumeSession) ? ['resume', resumeSession] : []),
      '-',
    ];
  },
  event(event, say) {
    const item = objectAt(event, 'item') ?? {};
    switch (stringAt(event, 'type')) {
      case 'thread.started':
        say.session(stringAt(event, 'thread_id'));
        return;
      case 'item.started':
        readItem(item, say, false);
        return;
      case 'item.completed':
        readItem(item, say, true);
        return;
      case 'error':
        readError(stringAt(event, 'message') ?? '', say);
        return;
      case 'turn.failed':
        say.error(stringAt(objectAt(event, 'error') ?? {}, 'message') ?? '', null, true);
        return;
      case 'turn.completed':
        say.usage(tokensAt(event, 'usage'), 'session');
        say.result();
        return;
    }
  },
  words(line, say) {
    // The line does not name the refused command.
    if (/error=approval policy is \w+; reject command/.test(line)) {
      say.refusedSomewhere('command_execution', '');
    }
  },
});

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reads an item. An unknown kind counts as a tool, so that the text before it is not the final message. */
function readItem(item: JsonObject, say: Sink, isDone: boolean): void {
  const kind = stringAt(item, 'type') ?? 'unknown';
  switch (kind) {
    case 'agent_message':
      if (isDone) say.text(stringAt(item, 'text') ?? '');
      return;
    case 'reasoning':
    // A `todo_list` is codex's plan for its work: writing it changes nothing.
    case 'todo_list':
      say.thinking();
      return;
    case 'error':
      return;
  }
  const id = stringAt(item, 'id');
  // codex sends no `item.started` event for a changed file.
  if (!isDone || kind === 'file_change') say.toolStart(id, kind, targetOf(item));
  if (isDone) say.toolEnd(id, ENDS[stringAt(item, 'status') ?? ''] ?? 'succeeded');
}

const ENDS: Readonly<Record<string, 'failed' | 'refused'>> = {
  failed: 'failed',
  declined: 'refused',
};

function targetOf(item: JsonObject): JsonObject {
  const changed = objectsAt(item, 'changes').map((change) => stringAt(change, 'path') ?? '');
  const { id, type, status, ...input } = item;
  // Events name changed files, but not the changes. So only the id tells two changes of the same files apart.
  if (changed.length > 0) return { file_path: changed.join(', '), id };
  return input;
}

/** A retry as codex announces it: `Reconnecting... 2/5 (unexpected status 401 Unauthorized: …)`. */
const RETRY = /^Reconnecting\.\.\. (\d+)\/(\d+)(?: \((.*)\))?/s;

function readError(message: string, say: Sink): void {
  const retry = RETRY.exec(message);
  if (retry === null) {
    say.error(message, null, false);
    return;
  }
  const [, attempt, maxRetries, error = message] = retry;
  const status = /\bstatus:? (\d{3})\b/.exec(error)?.[1];
  say.retry({
    status: status === undefined ? null : Number(status),
    error,
    attempt: Number(attempt),
    maxRetries: Number(maxRetries),
  });
}

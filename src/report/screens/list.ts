import type { ChangedList, ListEvent, UndoneItem } from '../../core/list/list-event.ts';
import type { ListStand } from '../../core/list/list-stand.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { commandHere, ralphCommand, shellQuote } from '../../printed-command.ts';

interface ShownCheck {
  readonly command: string;
  readonly run: boolean;
}

/** An item as the dry run shows it. */
export interface ShownItem {
  readonly id: string;
  readonly title: string;
  readonly state: 'ready' | 'waiting' | 'done' | 'blocked' | 'left-out';
  readonly waits_for: readonly string[];
  readonly checks: readonly ShownCheck[];
  readonly task_id: string;
}

/** A list as the dry run shows it. */
export interface ShownList {
  readonly list: string;
  readonly source: string;
  readonly order: readonly string[];
  readonly items: readonly ShownItem[];
  readonly problems: readonly string[];
}

/** Says how many items a list has, and which one is the first. */
export function listLine(
  source: string,
  items: readonly ShownItem[],
  first: string | null,
): string {
  const count = (state: ShownItem['state']): number =>
    items.filter((item) => item.state === state).length;
  const parts = [
    `${items.length} ${items.length === 1 ? 'item' : 'items'}`,
    `${count('done')} done`,
    `${count('ready') + count('waiting')} open`,
    ...(count('blocked') > 0 ? [`${count('blocked')} blocked`] : []),
    ...(count('left-out') > 0 ? [`${count('left-out')} left out`] : []),
  ];
  const next = first === null ? 'nothing can be started' : `the first is ${oneLine(first, 80)}`;
  return `${oneLine(source, 200)}: ${parts.join(', ')}; ${next}`;
}

/** Returns the text of a dry run. */
export function listPreview({ source, order, items, problems }: ShownList): string {
  const byId = new Map(items.map((item) => [item.id, item]));
  const lines = [listLine(source, items, order[0] ?? null)];
  order.forEach((id, at) => {
    const item = byId.get(id);
    if (item === undefined) return;
    const waits = item.waits_for.length === 0 ? '' : `, after ${item.waits_for.join(', ')}`;
    lines.push(`${at + 1}. ${id}: ${item.title}${waits}`);
    for (const { command, run } of item.checks) {
      lines.push(`     ${run ? 'check' : 'not run without --item-checks'}: ${command}`);
    }
  });
  for (const { id, state, waits_for: waits } of items) {
    if (state === 'blocked') lines.push(`blocked: ${id}; --again ${id} tries it again`);
    if (state === 'left-out') lines.push(`left out by a person: ${id}`);
    if (state === 'waiting' && !order.includes(id))
      lines.push(`${id} waits for ${waits.join(', ')}`);
  }
  lines.push(...problems);
  return `${lines.map((line) => oneLine(line, 400)).join('\n')}\n`;
}

/**
 * Says what happened to an item. `source` is the list as people name it, and `typed` the words for it on a command
 * line. `most` is how often a task may continue after its branch could not be merged.
 */
export function listEventLine(
  event: ListEvent,
  { source, typed, most }: { source: string; typed: string; most: number },
): string {
  switch (event.kind) {
    case 'done': {
      const { item, proof, onto, commit } = event;
      const landed =
        onto === null || commit === null ? '' : `; landed on ${onto} as ${commit.slice(0, 12)}`;
      return oneLine(`${item} done: ${oneLine(proof, 700)}${landed}`, 900);
    }
    case 'blocked': {
      const { item, reason, undone } = event;
      const what = oneLine(`${item} blocked: ${reason}${changesText(undone)}`, 900);
      // An id may have line breaks, and a line of its own could say that another item is done.
      return oneLine(`${what}; to try it again: ${againCommand(typed, item)}`, 4_000);
    }
    case 'returned':
      return `${event.item}: ${lineAboveOutput(event.sentence)} Its task goes on (${event.time} of ${most} times).`;
    case 'not-landed':
      return `${event.item}: ${lineAboveOutput(event.sentence)}`;
    case 'left':
      return oneLine(`${event.item} is left to others: ${event.why}`, 900);
    case 'not-told':
      return oneLine(
        `${event.item} is done, but its source was not told: ${event.why}; the next run tells it`,
        900,
      );
    case 'withdrawn':
      return `${event.item} is not on the list any more, so it is not continued`;
    case 'rewritten':
      return `${event.item} has changed since the run began, so the next run takes it`;
    case 'starts-over':
      return `${event.item} has changed since its task began, so that is not continued, and it starts over`;
    case 'agent-changed-list':
      return changedListLine(event, source);
  }
}

/** Returns the first line of a sentence, without the output of a command that may stand below. */
function lineAboveOutput(sentence: string): string {
  return oneLine(sentence.split('\n')[0] ?? '', 400);
}

/** Returns the line that says how to restore the changes of an item after they were taken back. */
export function redoLine(item: string, taskId: string): string {
  return `to restore the changes of ${oneLine(item, 80)}: ${commandHere('undo', taskId, ['--redo'])}`;
}

function changesText(undone: UndoneItem): string {
  switch (undone.kind) {
    case 'nothing':
      return '';
    case 'apart':
      return `; its work stays on ${undone.branch}`;
    case 'not-landed':
      return `; ${lineAboveOutput(undone.sentence).replace(/\.$/, '')}; the next run tries to land it again`;
    case 'failed':
      return `; its changes are still there (${undone.why.replace(/\.$/, '')})`;
    case 'undone': {
      const but = undone.but === null ? '' : ` but for ${undone.but}`;
      const head = undone.whyNoMove === null ? '' : ` (HEAD stays: ${undone.whyNoMove})`;
      return `; its changes were taken back${but}${head}`;
    }
  }
}

/** Returns the command that tries an item again. `typed` are the words that name the list. */
export function againCommand(typed: string, item: string): string {
  return ralphCommand('work', typed, '--again', shellQuote(item));
}

function changedListLine({ items, what, why, keptAt }: ChangedList, source: string): string {
  const who = items.length === 0 ? 'an agent' : `the agent of ${items.join(' or ')}`;
  if (what === 'marks-put-back') {
    return `${who} changed done fields of ${source}; they were put back`;
  }
  const kept = keptAt === null ? '' : `; what it left is in ${keptAt}`;
  return `${who} changed ${source} (${(why ?? '').replace(/\.$/, '')}), so it was put back${kept}`;
}

/** Returns the last line of a run over a list. */
export function listEndLine(
  source: string,
  counts: {
    readonly done: number;
    readonly total: number;
    readonly blocked: number;
    readonly waiting: number;
    readonly added: number;
    readonly unproven: number;
    readonly left: number;
  },
): string {
  const { done, total, blocked, waiting, added, unproven, left } = counts;
  const parts = [
    `${done}/${total} done`,
    ...(unproven > 0 ? [`${unproven} of them not proven in this run`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(left > 0 ? [`${left} left to others`] : []),
    ...(added > 0 ? [`${added} added meanwhile`] : []),
  ];
  return `${source}: ${parts.join(', ')}`;
}

/** Returns the line of a list in `ralph status`. */
export function listStatusLine({ source, counts, working }: ListStand): string {
  const name = oneLine(source, 200);
  if (counts === null) return `${name}  cannot be read`;
  const parts = [
    counts.total === null ? `${counts.done} done` : `${counts.done}/${counts.total} done`,
    ...(counts.blocked > 0 ? [`${counts.blocked} blocked`] : []),
    ...(counts.waiting > 0 ? [`${counts.waiting} waiting`] : []),
    ...(working.length === 0 ? [] : [`working on ${oneLine(working.join(', '), 80)}`]),
  ];
  return `${name}  ${parts.join(', ')}`;
}

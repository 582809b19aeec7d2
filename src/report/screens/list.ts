import type { ListStand } from '../../core/list/list-stand.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { commandHere, ralphCommand, shellQuote } from '../../printed-command.ts';

/** A command that an item names, and whether it is run. */
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

/** The line of an item that is done, and where it landed. */
export function doneLine({
  item,
  proof,
  onto,
  commit,
}: {
  readonly item: string;
  readonly proof: string;
  readonly onto: string | null;
  readonly commit: string | null;
}): string {
  const landed =
    onto === null || commit === null ? '' : `; landed on ${onto} as ${commit.slice(0, 12)}`;
  return oneLine(`${item} done: ${oneLine(proof, 700)}${landed}`, 900);
}

/** Says that an item goes on, since its landing failed. */
export function returnedLine(
  {
    item,
    sentence,
    time,
  }: { readonly item: string; readonly sentence: string; readonly time: number },
  most: number,
): string {
  return `${item}: ${lineAboveOutput(sentence)} Its task goes on (${time} of ${most} times).`;
}

/** Returns the first line of a sentence below which the output of a command may stand. */
export function lineAboveOutput(sentence: string): string {
  return oneLine(sentence.split('\n')[0] ?? '', 400);
}

/** The line of an item that failed. */
export function blockedLine(
  {
    item,
    reason,
    undone,
  }: {
    readonly item: string;
    readonly reason: string;
    readonly undone:
      | {
          readonly kind: 'undone';
          readonly but: string | null;
          readonly whyNoMove: string | null;
        }
      | { readonly kind: 'nothing' }
      | { readonly kind: 'apart'; readonly branch: string }
      | { readonly kind: 'not-landed'; readonly sentence: string }
      | { readonly kind: 'failed'; readonly why: string };
  },
  typed: string,
): string {
  const what = oneLine(`${item} blocked: ${reason}${changesText(undone)}`, 900);
  return `${what}; to try it again: ${againCommand(typed, item)}`;
}

/** The line below that of an item whose changes were taken back. */
export function redoLine(item: string, taskId: string): string {
  return `to restore the changes of ${oneLine(item, 80)}: ${commandHere('undo', taskId, ['--redo'])}`;
}

function changesText(undone: Parameters<typeof blockedLine>[0]['undone']): string {
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

/** The line of an item that somebody else has. */
export function leftLine(item: string, why: string): string {
  return oneLine(`${item} is left to others: ${why}`, 900);
}

/** The line of an item that is done, and whose source does not know it yet. */
export function notToldLine(item: string, why: string): string {
  return oneLine(
    `${item} is done, but its source was not told: ${why}; the next run tells it`,
    900,
  );
}

/** The command that tries an item again. `typed`: the words that name the list. */
export function againCommand(typed: string, item: string): string {
  return ralphCommand('work', typed, '--again', shellQuote(item));
}

/** Says what an agent did to the list, and what became of it. */
export function changedListLine(
  {
    items,
    what,
    why,
    keptAt,
  }: {
    /** Of several at work, any can have done it. */
    readonly items: readonly string[];
    readonly what: 'marks-put-back' | 'put-back';
    readonly why: string | null;
    readonly keptAt: string | null;
  },
  source: string,
): string {
  const who = items.length === 0 ? 'an agent' : `the agent of ${items.join(' or ')}`;
  if (what === 'marks-put-back') {
    return `${who} changed done fields of ${source}; they were put back`;
  }
  const kept = keptAt === null ? '' : `; what it left is in ${keptAt}`;
  return `${who} changed ${source} (${(why ?? '').replace(/\.$/, '')}), so it was put back${kept}`;
}

/** The end of a run over a list, in a line. */
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

/** The line of a list in `ralph status`. */
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

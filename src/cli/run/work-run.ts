import path from 'node:path';
import { requireOutlook } from '../../compose/before-start.ts';
import {
  holdList,
  listFileAt,
  removeListNote,
  requireList,
  requireListState,
  saveListState,
  writeListNote,
} from '../../compose/lists/list-keeper.ts';
import { undoItem } from '../../compose/lists/undo-item.ts';
import {
  type ItemRun,
  type ListEnd,
  type ListEvent,
  type ListPorts,
  type StartedItem,
  workThrough,
} from '../../compose/lists/work-through.ts';
import { type PlannedTask, sharedRuns } from '../../compose/rescue/shared-runs.ts';
import { rulesForAll } from '../../core/agent/agents/agents.ts';
import { listName, taskIdOf } from '../../core/list/item-ids.ts';
import { itemStands, startOrder } from '../../core/list/item-order.ts';
import { itemPrompt } from '../../core/list/item-prompt.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import { blockedIds, type ListState, withoutRecord } from '../../core/list/list-state.ts';
import type { Check } from '../../core/settings/checks.ts';
import { judgeOf, MOST_CRITERIA } from '../../core/settings/judge-setting.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { notOfLists, WORK_SETTINGS, type WorkLayer } from '../../core/settings/work-settings.ts';
import { endingRow } from '../../core/task/endings.ts';
import { withPolicy } from '../../core/task/policy.ts';
import { nearest } from '../../core/text/nearest.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { oneLine, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { renderListNote } from '../../report/notes/list-note.ts';
import {
  blockedLine,
  changedListLine,
  doneLine,
  listEndLine,
  listLine,
  type ShownList,
} from '../../report/screens/list.ts';
import { jsonView } from '../../report/terminal/plain.ts';
import { allOf } from '../../report/terminal/view.ts';
import { outputFlags, type ReadFlags } from '../flags/flags.ts';
import { type CollectedSettings, collectSettings } from '../settings/collect.ts';
import { sayPowers } from '../settings/found-config.ts';
import { findTask } from '../tasks/find-task.ts';
import { startFolder } from '../tasks/named-folders.ts';
import { personAt } from '../terminal/ask-person.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { say } from '../terminal/outlet.ts';
import { commandFinder } from './item-checks.ts';
import { planResume } from './plan-resume.ts';
import { viewOf } from './prefixed-view.ts';
import { announcements } from './run-notices.ts';

/** What the command line of `ralph work` says. */
export type WorkFlags = ReadFlags & { readonly layer: Layer & WorkLayer };

/** A list, and everything that a run over it needs. */
export interface OpenList {
  readonly flags: WorkFlags;
  readonly collected: CollectedSettings;
  /** A plan of a task without an item, to check the settings and to find the folders. */
  readonly plan: RunPlan;
  readonly startDir: string;
  readonly file: string;
  /** The file as the person named it. */
  readonly shown: string;
  /** The name of the list in ids of tasks. */
  readonly name: string;
  readonly sections: readonly string[];
  readonly only: ReadonlySet<string> | null;
  readonly list: TaskList;
  readonly state: ListState;
  /** The commands that an item names. */
  readonly commandsOf: (item: ListItem) => readonly string[];
  readonly runsItemChecks: boolean;
  /** The open items without a check, as one sentence for each problem. */
  readonly unchecked: readonly string[];
  readonly notices: readonly string[];
}

/** Checks everything that can be wrong with the list and its settings. Rejects with a `UsageError`. */
export async function openList(flags: WorkFlags): Promise<OpenList> {
  const startDir = startFolder();
  const shown = flags.taskId ?? '';
  const file = listFileAt(startDir, shown);
  const sections = textsOf(flags.layer.section);
  const collected = await collectForItems(flags, startDir);
  const runsItemChecks = flags.layer.itemChecks !== undefined;
  const items = textsOf(flags.layer.item);
  const again = textsOf(flags.layer.again).filter((id) => id !== 'all');
  const problems = [
    ...flags.problems,
    ...notOfLists().flatMap((each) => {
      const written = flags.layer[each];
      return written === undefined
        ? []
        : [
            `ralph work takes no ${written.source.where}: each item of the list has a task of its own.`,
          ];
    }),
    ...collected.problems,
  ];
  const base = { flags, collected, startDir };
  const plan = await planTask(base, {
    taskId: 'item',
    checks: [],
    criteria: null,
    prompt: 'item',
    problems,
  });
  const name = listName(path.relative(plan.vault, file), sections);
  const known = requireListState(plan, { list: name, file, sections });
  // What an agent has left of the list since, is put back once its item has come to its end.
  const list = requireList({ file, shown, sections, before: known.before });
  const ids = list.items.map(({ id }) => id);
  const unknown = [
    ...items.flatMap((id) => unknownId(WORK_SETTINGS.item.flag, id, ids)),
    ...again.flatMap((id) => unknownId(WORK_SETTINGS.again.flag, id, ids)),
  ];
  if (unknown.length > 0) throw new UsageError(unknown);
  const state = textsOf(flags.layer.again).includes('all')
    ? { ...known, items: known.items.filter((item) => item.state !== 'blocked') }
    : again.reduce(reopened, known);
  const commandsOf = commandFinder(plan.env, plan.cwd);
  const only = items.length === 0 ? null : new Set(items);
  const opened = { ...base, plan, file, shown, name, sections, only, list, state, commandsOf };
  return {
    ...opened,
    runsItemChecks,
    unchecked: uncheckedItems({ ...opened, runsItemChecks }),
    notices: collected.notices,
  };
}

function reopened(state: ListState, id: string): ListState {
  const isBlocked = state.items.some((item) => item.id === id && item.state === 'blocked');
  return isBlocked ? withoutRecord(state, id) : state;
}

function textsOf(written: Written | undefined): readonly string[] {
  return [written?.value ?? []].flat().map(String);
}

function unknownId(flag: string, id: string, ids: readonly string[]): readonly string[] {
  if (ids.includes(id)) return [];
  const near = nearest(id, ids);
  const meant = near === null ? 'ralph work LIST --dry-run shows them' : `did you mean ${near}?`;
  return [`${flag} expects the id of an item; the list has no '${oneLine(id, 80)}'; ${meant}`];
}

/** Collects the settings; the task type is `coding` unless something else says so. */
async function collectForItems(flags: WorkFlags, startDir: string): Promise<CollectedSettings> {
  const request = { flags: flags.layer, env: process.env, startDir, ask: personAt(process.env) };
  const collected = await collectSettings(request);
  if (collected.sources.taskType.kind !== 'default') return collected;
  const taskType = { value: 'coding', source: { kind: 'default' as const, where: 'ralph work' } };
  return collectSettings({ ...request, flags: { ...flags.layer, taskType } });
}

interface TaskToPlan {
  readonly taskId: string;
  readonly prompt: string;
  /** The commands of the item that are run. */
  readonly checks: readonly string[];
  /** What a judge has to find; null for what the settings name. */
  readonly criteria: readonly string[] | null;
  readonly problems?: readonly string[];
}

function planTask(
  { collected, flags, startDir }: Pick<OpenList, 'collected' | 'flags' | 'startDir'>,
  { taskId, prompt, checks, criteria, problems = [] }: TaskToPlan,
): Promise<RunPlan> {
  const { settings } = collected;
  const ofItem = checks.map(
    (command): Check => ({ name: oneLine(command, 200), command, ofItem: true }),
  );
  const request = {
    ...collected,
    settings: {
      ...settings,
      ...off(),
      taskId,
      verify: [...settings.verify, ...ofItem],
      ...(criteria === null ? {} : { criterion: criteria, criteria: null }),
    },
    passthrough: flags.passthrough,
    startDir,
    env: process.env,
    newTaskId: () => taskId,
    keptPrompt: new TextEncoder().encode(prompt),
  };
  return requirePlan(request, problems, collected.notices);
}

/** Settings that variables or a configuration may have, and that make no sense for the items of a list. */
function off(): Partial<Settings> {
  const { settings } = resolveSettings([]);
  return Object.fromEntries(notOfLists().map((name) => [name, settings[name]]));
}

function uncheckedItems({
  collected: { settings },
  list,
  only,
  commandsOf,
  runsItemChecks,
}: Pick<
  OpenList,
  'collected' | 'list' | 'only' | 'commandsOf' | 'runsItemChecks'
>): readonly string[] {
  const { proof, verify, until } = settings;
  if (proof === 'tell' || verify.length > 0 || (proof !== 'strict' && until !== null)) return [];
  const ids = list.items
    .filter(
      ({ id, standing, isWanted }) => standing === 'open' && isWanted && (only?.has(id) ?? true),
    )
    .filter((item) => !runsItemChecks || commandsOf(item).length === 0)
    .map(({ id }) => id);
  if (ids.length === 0) return [];
  const some = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ` and ${ids.length - 5} more` : ''}`;
  return [
    `ralph work expects a check for each open item, and these have none: ${some}. --verify gives a check to all, and --proof tell accepts the agent's word.`,
  ];
}

/** Returns the list as a dry run shows it. */
export function shownList(open: OpenList): ShownList {
  const { list, state, only, name, shown, commandsOf, runsItemChecks, plan } = open;
  const blocked = blockedIds(state);
  const wanted = itemStands(list.items, { blocked }).filter(
    ({ item }) => item.isWanted && (only === null || only.has(item.id)),
  );
  return {
    ...{ list: name, source: shown, order: startOrder(list.items, { blocked, only }) },
    items: wanted.map(({ item, state: stand, waitsFor }) => ({
      ...{ id: item.id, title: item.name, state: stand, waits_for: waitsFor },
      checks: [
        ...plan.settings.verify.map(({ command }) => ({ command, run: true })),
        ...commandsOf(item).map((command) => ({ command, run: runsItemChecks })),
      ],
      task_id: taskIdOf(name, item.id),
    })),
    problems: open.unchecked,
  };
}

/** Works through a list. Resolves to the exit code. */
export async function runList(open: OpenList): Promise<number> {
  const { plan, shown, name, collected } = open;
  if (open.unchecked.length > 0) throw new UsageError(open.unchecked);
  const { settings } = plan;
  const { json } = settings;
  const tell = settings.quiet ? (): void => {} : (line: string) => say(oneLine(line, 2_000));
  const first = shownList(open);
  const isWorking = open.state.items.some(({ state }) => state === 'working');
  const isOpen = first.items.some(({ state }) => state !== 'done' && state !== 'left-out');
  if (!isOpen && !isWorking) {
    tell(`${listLine(shown, first.items, null)}: nothing is open`);
    if (!isStuck(open.list, open.state)) removeListNote(plan.vault, name);
    return 0;
  }
  sayPowers(collected.powers);
  const said = new Set<string>();
  const outlook = await requireOutlook({ plan, isNew: true, said });
  for (const notice of [...open.notices, ...outlook]) {
    said.add(notice);
    tell(notice);
  }
  const hold = await holdList(plan, name, shown);
  const runs = sharedRuns(plan.stateDir, tell);
  try {
    // Another run may have written it since it was read.
    const fresh = requireListState(plan, open.state);
    const state = { ...fresh, items: fresh.items.filter(({ id }) => isKept(open, id)) };
    tell(listLine(shown, first.items, first.order[0] ?? null));
    const print = (event: object, line: string): void => {
      const text = json ? `${safeJson(withoutControlsIn(event))}\n` : `${line}\n`;
      process.stdout.write(text);
    };
    const ports = portsOf(open, { runs, said, print, tell });
    const end = await workThrough(ports, state);
    await announceEnd(open, end, print, tell);
    return end.exitCode;
  } finally {
    runs.stops.close();
    hold.release();
  }
}

/** Whether a note has something to say: an item of the whole list is blocked or waits. */
function isStuck({ items }: TaskList, state: ListState): boolean {
  return itemStands(items, { blocked: blockedIds(state) }).some(
    ({ item, state: stand }) => item.isWanted && (stand === 'blocked' || stand === 'waiting'),
  );
}

/** Whether a record stays: one that `--again` has opened again does not. */
function isKept({ flags, state }: OpenList, id: string): boolean {
  const again = textsOf(flags.layer.again);
  const isMeant = again.includes('all') || again.includes(id);
  return !isMeant || state.items.some((item) => item.id === id);
}

interface ListRun {
  readonly runs: ReturnType<typeof sharedRuns>;
  readonly said: Set<string>;
  readonly print: (event: object, line: string) => void;
  readonly tell: (line: string) => void;
}

function portsOf(open: OpenList, { runs, said, print, tell }: ListRun): ListPorts {
  const { plan, file, shown, name, sections, only, collected } = open;
  const bounds = { maxCostPerDay: plan.policy.maxCostPerDay, endedByBugs };
  const view = (taskId: string) =>
    allOf([viewOf(taskId, plan), ...(collected.settings.json ? [jsonView(process.stdout)] : [])]);
  const ended = async (task: PlannedTask): Promise<ItemRun | number> => {
    const policy = withPolicy(task.plan.policy, { list: file });
    const ran = await runs.run({ ...task, plan: { ...task.plan, policy } }, bounds);
    if (ran.kind === 'no-room') return endingRow('budget_spent', 'day_budget').exitCode;
    const { status, exit_reason: exitReason, evidence } = ran.end.fields;
    return { status, exitReason, evidence };
  };
  const find = (taskId: string) => findTask(taskId, plan);
  return {
    ...{ stateDir: plan.stateDir, file, shown, sections, only, stops: runs.stops },
    taskIdOf: (item) => taskIdOf(name, item),
    save: (state) => saveListState(plan, state),
    find(taskId) {
      const found = find(taskId);
      if (found === null) return null;
      const { state, standing, paths, isOwn } = found;
      return {
        ...{ isOwn, startedAt: state.started_at, standing, exitReason: state.exit_reason },
        ...{ evidence: state.evidence, folder: paths.folder },
      };
    },
    async start(started) {
      const planned = await planItem(open, started);
      const news = announcements(planned).filter((sentence) => !said.has(sentence));
      for (const sentence of news) said.add(sentence);
      return ended({ plan: planned, view: view(started.taskId), announcements: news, said });
    },
    async resume(taskId) {
      const asked = { ...outputFlags(open.flags), isTrusted: false };
      const planned = await planResume(taskId, plan, asked);
      if (planned === null) return null;
      const resume = { ...planned.resume, announcesOnly: planned.isUntold };
      const task = { plan: planned.plan, resume, view: view(taskId), announcements: [], said };
      return ended(task);
    },
    async undo(taskId) {
      const found = find(taskId);
      if (found === null) return { kind: 'failed', why: 'its state is gone' };
      return undoItem({ ...found, vault: plan.vault, place: plan, canBeResumed: true });
    },
    report: (event) => report(event, shown, print, tell),
  };
}

function planItem(
  open: OpenList,
  { item, taskId, place, count, done }: StartedItem,
): Promise<RunPlan> {
  const { plan, shown, commandsOf, runsItemChecks } = open;
  const ofItem = runsItemChecks ? commandsOf(item) : [];
  const checks = [...plan.settings.verify.map(({ command }) => command), ...ofItem];
  const { id, name, text } = item;
  const prompt = itemPrompt(
    { list: shown, id, name, text, place, count, checks, done },
    rulesForAll(plan.policy.agents),
  );
  // The file of `--criteria` was read before the first item: an agent may have rewritten it since.
  const given = [...plan.settings.criterion, ...item.criteria].slice(0, MOST_CRITERIA);
  const criteria = judgeOf(plan.settings) === null ? null : given;
  return planTask(open, { taskId, prompt, checks: ofItem, criteria });
}

function report(
  event: ListEvent,
  shown: string,
  print: ListRun['print'],
  tell: ListRun['tell'],
): void {
  const { item } = event;
  switch (event.kind) {
    case 'done':
      print(
        { event: 'item_done', item, task_id: event.taskId, proof: event.proof },
        doneLine(item, event.proof),
      );
      return;
    case 'blocked':
      print(
        { event: 'item_blocked', item, task_id: event.taskId, reason: event.reason },
        blockedLine(event, shown),
      );
      return;
    case 'agent-changed-list':
      tell(changedListLine(event, shown));
  }
}

async function announceEnd(
  { plan, shown, name, only }: OpenList,
  { exitCode, state, list, added, unproven, ticked, isCut }: ListEnd,
  print: ListRun['print'],
  tell: ListRun['tell'],
): Promise<void> {
  const stands = itemStands(list.items, { blocked: blockedIds(state) }).filter(
    ({ item }) => item.isWanted && (only === null || only.has(item.id)),
  );
  const count = (stand: string): number => stands.filter((each) => each.state === stand).length;
  const counts = {
    done: count('done'),
    blocked: count('blocked'),
    waiting: count('waiting'),
    added,
  };
  const line = listEndLine(shown, { ...counts, total: stands.length, unproven });
  const event = { event: 'list_ended', list: name, exit_code: exitCode, ...counts };
  if (plan.settings.json) print(event, line);
  tell(line);
  if (plan.settings.commit && ticked > 0) tell(`the ticks in ${shown} are not committed`);
  if (exitCode === 0 && !isStuck(list, state)) removeListNote(plan.vault, name);
  if (exitCode !== 5 || isCut) return;
  const items = stands
    .filter((each) => each.state === 'blocked' || each.state === 'waiting')
    .map(({ item, waitsFor }) => {
      const record = state.items.find(
        ({ id, state: stand }) => id === item.id && stand === 'blocked',
      );
      const reason = record === undefined ? null : (record.reason ?? 'it failed');
      return { id: item.id, title: item.name, taskId: taskIdOf(name, item.id), reason, waitsFor };
    });
  const created = new Date().toISOString();
  const text = renderListNote(
    { list: name, source: shown, items },
    { created, stateDir: plan.stateDir },
  );
  await writeListNote(plan.vault, name, created, text).then(
    (note) => tell(`what cannot be started is in ${note}`),
    (error: unknown) => tell(`The note for a human could not be written: ${messageOf(error)}`),
  );
}

import path from 'node:path';
import { startFolderOf } from '../../compose/git-commands/task-repository.ts';
import { listCommands } from '../../compose/lists/list-commands.ts';
import {
  listFileAt,
  requireList,
  requireListState,
  requireSameOrigin,
} from '../../compose/lists/list-keeper.ts';
import { claimsHide, type PrintedList } from '../../compose/lists/list-source.ts';
import { type PrintedFirst, printFirst } from '../../compose/lists/print-first.ts';
import { listName, taskIdOf } from '../../core/list/item-ids.ts';
import { itemStands, startOrder } from '../../core/list/item-order.ts';
import { withRecords } from '../../core/list/kept-items.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import { idProblems } from '../../core/list/list-sources.ts';
import { blockedIds, type ListState, openedAgain, reopened } from '../../core/list/list-state.ts';
import type { Check } from '../../core/settings/checks.ts';
import { parseValue } from '../../core/settings/parse-value.ts';
import { defaultsOf } from '../../core/settings/resolve-settings.ts';
import type { Written } from '../../core/settings/setting-source.ts';
import { notOfLists, WORK_SETTINGS } from '../../core/settings/work-settings.ts';
import { nearest } from '../../core/text/nearest.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import { UsageError } from '../../errors.ts';
import type { ShownList } from '../../report/screens/list.ts';
import { type CollectedSettings, collectSettings } from '../settings/collect.ts';
import { startFolder } from '../tasks/named-folders.ts';
import { personAt } from '../terminal/ask-person.ts';
import { commandFinder } from './item-checks.ts';
import { commandProblems, type NamedList, namedList, type WorkFlags } from './named-list.ts';

/** A list, and everything that a run over it needs. */
export interface OpenList {
  readonly flags: WorkFlags;
  readonly collected: CollectedSettings;
  /** A plan made without an item, to check the settings and to know where the folders are. */
  readonly plan: RunPlan;
  readonly startDir: string;
  readonly named: NamedList;
  /** Absolute path of the list's file; null if a command prints the list. */
  readonly file: string | null;
  /** The list as the person named it. */
  readonly shown: string;
  /** The name of the list in the ids of its tasks. */
  readonly name: string;
  /** The list as its command first printed it; null for a file. */
  readonly printed: PrintedFirst | null;
  readonly run: PrintedList['run'];
  readonly sections: readonly string[];
  readonly only: ReadonlySet<string> | null;
  readonly list: TaskList;
  readonly state: ListState;
  /** Returns the commands by which an item says how it is checked. */
  readonly commandsOf: (item: ListItem) => readonly string[];
  readonly runsItemChecks: boolean;
  /** How many items run at the same time. */
  readonly places: number;
  /** One sentence for each open item that nothing would check. */
  readonly unchecked: readonly string[];
  readonly notices: readonly string[];
}

/** Checks everything that can be wrong with the list and its settings. Rejects with a `UsageError`. */
export async function openList(flags: WorkFlags): Promise<OpenList> {
  const startDir = startFolder();
  const named = namedList(flags);
  const { source, shown, commands, label } = named;
  const file = source === null ? listFileAt(startDir, shown) : null;
  const sections = textsOf(flags.layer.section);
  const collected = await collectForItems(flags, startDir);
  const runsItemChecks = flags.layer.itemChecks !== undefined;
  const places = placesOf(flags.layer.concurrency, collected.settings.worktree);
  const items = textsOf(flags.layer.item);
  const again = textsOf(flags.layer.again);
  const problems = [
    ...flags.problems,
    ...places.problems,
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
  const plan = await planItemTask(base, {
    taskId: 'item',
    checks: [],
    criteria: null,
    prompt: 'item',
    problems,
  });
  // The commands of a list's source run in the folder where ralph was started, not in the work tree of an item.
  const here = { ...plan, cwd: startFolderOf(plan) };
  const unsafe = commandProblems(flags, here);
  if (unsafe.length > 0) throw new UsageError(unsafe);
  const name = source ?? listName(path.relative(plan.vault, file ?? ''), sections);
  const known = requireListState(plan, { list: name, file: file ?? name, sections });
  const unbound = listCommands(here, named.variables);
  const printed =
    file === null
      ? await printFirst(
          { name, shown, commands, label, sections, run: unbound },
          named.known,
          here,
        )
      : null;
  const run = printed?.run ?? unbound;
  if (printed !== null) requireSameOrigin(plan, known, printed);
  const { state, notices } = stateFor({ flags, named, printed }, known);
  const list =
    printed !== null
      ? withRecords(printed.first, state.items, new Set(), claimsHide(printed))
      : // Changes that an agent made to the file do not count; they are undone when its item ends.
        requireList(file ?? '', shown, known);
  const ids = list.items.map(({ id }) => id);
  const isCalled = commands.claim !== null || commands.done !== null;
  const unknown = [
    ...items.flatMap((id) => unknownId(WORK_SETTINGS.item.flag, id, ids)),
    ...again.flatMap((id) => (id === 'all' ? [] : unknownId(WORK_SETTINGS.again.flag, id, ids))),
    ...(isCalled ? idProblems(shown, list.items) : []),
  ];
  if (unknown.length > 0) throw new UsageError(unknown);
  // Anybody may have written a list that a command prints (such as issues), so no command is taken from its items.
  const commandsOf = file === null ? () => [] : commandFinder(plan.env, here.cwd);
  const only = items.length === 0 ? null : new Set(items);
  const opened = { ...base, plan, named, file, shown, name, sections, only, list, state };
  return {
    ...opened,
    ...{ commandsOf, printed, run, runsItemChecks, places: places.count },
    unchecked: uncheckedItems({ ...opened, commandsOf, runsItemChecks }),
    notices: [...collected.notices, ...(list.notices ?? []), ...notices],
  };
}

/** Returns the list's state after items were opened again by `--again` or at the source, with sentences about them. */
export function stateFor(
  { flags, named, printed }: Pick<OpenList, 'flags' | 'named' | 'printed'>,
  known: ListState,
): { readonly state: ListState; readonly notices: readonly string[] } {
  const again = textsOf(flags.layer.again);
  const state = openedAgain(known, again, printed !== null);
  if (printed === null) return { state, notices: [] };
  const opened = reopened(state, printed.first.items, named.hidesClosed);
  return {
    state: { ...opened.state, origin: printed.origin },
    notices: opened.ids.map((id) => `${oneLine(id, 80)} was opened again, or is another item now.`),
  };
}

function placesOf(
  written: Written | undefined,
  isApart: boolean,
): { readonly count: number; readonly problems: readonly string[] } {
  const { flag, type, default: one } = WORK_SETTINGS.concurrency;
  const parsed = parseValue(type, written?.value ?? one);
  if ('problem' in parsed) return { count: 1, problems: [`${flag} ${parsed.problem}.`] };
  const count = Number(parsed.value);
  const problem = `${flag} ${count} needs --worktree: items that run at the same time would change each other's files.`;
  return { count, problems: count > 1 && !isApart ? [problem] : [] };
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

/** Collects the settings; the task type is `coding` unless a source names another. */
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
  /** The item's own commands that are run as checks. */
  readonly checks: readonly string[];
  /** The criteria for a judge; null for those of the settings. */
  readonly criteria: readonly string[] | null;
  /** The commit or branch at which the task's work tree begins; absent for HEAD. */
  readonly base?: string;
  readonly problems?: readonly string[];
}

/** Plans the task of an item. Rejects with a `UsageError`. */
export function planItemTask(
  { collected, flags, startDir }: Pick<OpenList, 'collected' | 'flags' | 'startDir'>,
  { taskId, prompt, checks, criteria, base, problems = [] }: TaskToPlan,
): Promise<RunPlan> {
  const { settings } = collected;
  const ofItem = checks.map(
    (command): Check => ({ name: oneLine(command, 200), command, ofItem: true }),
  );
  const request = {
    ...collected,
    settings: {
      ...settings,
      // Variables or a configuration may set what makes no sense for the items of a list.
      ...defaultsOf(notOfLists()),
      ...(base === undefined ? {} : { base }),
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

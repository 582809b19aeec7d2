import path from 'node:path';
import { requireStart } from '../../compose/before-start.ts';
import { startFolderOf } from '../../compose/git-commands/task-repository.ts';
import { commitOfTask } from '../../compose/lists/item-commit.ts';
import { landItem, returnItem } from '../../compose/lists/land-item.ts';
import { type LandingTarget, landingTarget } from '../../compose/lists/landing-target.ts';
import {
  holdList,
  planOfItem,
  removeListNote,
  requireListState,
  writeListNote,
} from '../../compose/lists/list-keeper.ts';
import type { ItemRun, ListEnd, ListPorts, StartedItem } from '../../compose/lists/list-run.ts';
import { fileSource, itemCalls, printedSource } from '../../compose/lists/list-source.ts';
import { undoItem } from '../../compose/lists/undo-item.ts';
import { workThrough } from '../../compose/lists/work-through.ts';
import { type PlannedTask, sharedRuns } from '../../compose/rescue/shared-runs.ts';
import { rulesForAll } from '../../core/agent/agents/agents.ts';
import { MOST_RETURNS } from '../../core/list/item-end.ts';
import { taskIdOf } from '../../core/list/item-ids.ts';
import { itemStands } from '../../core/list/item-order.ts';
import { itemPrompt } from '../../core/list/item-prompt.ts';
import type { ListEvent } from '../../core/list/list-event.ts';
import type { TaskList } from '../../core/list/list-item.ts';
import { blockedIds, type ListState } from '../../core/list/list-state.ts';
import { judgeOf, MOST_CRITERIA } from '../../core/settings/judge-setting.ts';
import { endingRow } from '../../core/task/endings.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { oneLine, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { removeHalfWritten } from '../../effects/files/write-file.ts';
import { knownAt, saveListState } from '../../effects/lists/list-states.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { worksOn } from '../../printed-command.ts';
import { renderListNote } from '../../report/notes/list-note.ts';
import { listEndLine, listEventLine, listLine, redoLine } from '../../report/screens/list.ts';
import { jsonView } from '../../report/terminal/plain.ts';
import { allOf } from '../../report/terminal/view.ts';
import { inTurns } from '../../rescue/in-turns.ts';
import { outputFlags } from '../flags/flags.ts';
import { sayPowers } from '../settings/found-config.ts';
import { existingTask, findTask } from '../tasks/find-task.ts';
import { isFound } from '../tasks/named-folders.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { say } from '../terminal/outlet.ts';
import { type OpenList, planItemTask, shownList, stateFor } from './open-list.ts';
import { planAskedResume } from './plan-resume.ts';
import { viewOf } from './prefixed-view.ts';
import { announcements } from './run-notices.ts';

/** Works through a list. Resolves to the exit code. */
export async function runList(open: OpenList): Promise<number> {
  const { plan, file, shown, name, collected } = open;
  if (open.unchecked.length > 0) throw new UsageError(open.unchecked);
  worksOn(plan, isFound);
  const { settings } = plan;
  const { json } = settings;
  const tell = settings.quiet ? (): void => {} : (line: string) => say(oneLine(line, 2_000));
  for (const notice of open.notices) tell(notice);
  const first = shownList(open);
  const isWorking = open.state.items.some(({ state }) => state === 'working');
  const isUntold =
    open.named.commands.done !== null && open.state.items.some(({ told }) => told === false);
  const isOpen = first.items.some(({ state }) => state !== 'done' && state !== 'left-out');
  if (!isOpen && !isWorking && !isUntold) {
    tell(`${listLine(shown, first.items, null)}: nothing is open`);
    if (!isStuck(open.list, open.state)) removeListNote(plan.vault, name);
    return 0;
  }
  sayPowers(collected.powers);
  const said = new Set(open.notices);
  const { notices: outlook } = await requireStart({ plan, isNew: true, said });
  for (const notice of outlook) {
    said.add(notice);
    tell(notice);
  }
  const hold = await holdList(plan, name, shown);
  const { maxCostPerDay } = plan.policy;
  const runs = sharedRuns(plan.stateDir, tell, { maxCostPerDay, endedByBugs });
  try {
    // A process that was killed while it ticked an item may have left a half-written file.
    if (file !== null) removeHalfWritten(path.dirname(file), path.basename(file));
    // Another run may have changed the stored state since it was read.
    const fresh = requireListState(plan, open.state);
    const { state: kept } = stateFor(open, fresh);
    const target = settings.worktree ? await targetOf(open, kept) : null;
    const state = target?.isOwn === true ? { ...kept, target: target.branch } : kept;
    if (state.target !== fresh.target) await saveListState(plan, state);
    tell(listLine(shown, first.items, first.order[0] ?? null));
    const print = (event: object, line: string): void => {
      const text = json ? `${safeJson(withoutControlsIn(event))}\n` : `${line}\n`;
      process.stdout.write(text);
    };
    if (target !== null) tell(target.sentence);
    const base = target === null ? undefined : `refs/heads/${target.branch}`;
    const ports = portsOf(open, { runs, said, print, tell, base });
    const end = await workThrough(ports, state);
    await announceEnd(open, end, print, tell);
    return end.exitCode;
  } finally {
    runs.stops.close();
    hold.release();
  }
}

function targetOf({ plan, name }: OpenList, { target: known }: ListState): Promise<LandingTarget> {
  const protect = plan.settings.protectBranch;
  const env = plan.gitEnv;
  return landingTarget({ cwd: startFolderOf(plan), env, list: name, protect, known });
}

/** Whether the list still needs its note for a person: an item of the whole list is blocked or waits. */
function isStuck({ items }: TaskList, state: ListState): boolean {
  return itemStands(items, { blocked: blockedIds(state) }).some(
    ({ item, state: stand }) => item.isWanted && (stand === 'blocked' || stand === 'waiting'),
  );
}

interface ListRun {
  /** The full name of the branch at which items begin; undefined if they work in the work tree of the list. */
  readonly base: string | undefined;
  readonly runs: ReturnType<typeof sharedRuns>;
  readonly said: Set<string>;
  readonly print: (event: object, line: string) => void;
  readonly tell: (line: string) => void;
}

function portsOf(open: OpenList, { runs, said, print, tell, base }: ListRun): ListPorts {
  const { plan, file, shown, name, named, sections, only, collected, printed, places } = open;
  const view = (taskId: string, task: RunPlan) =>
    allOf([viewOf(taskId, task), ...(collected.settings.json ? [jsonView(process.stdout)] : [])]);
  const ended = async (task: PlannedTask): Promise<ItemRun | number> => {
    // No agent may touch the list: neither its file nor the state that ralph keeps of it.
    const list = file ?? knownAt(plan, name);
    const ran = await runs.run({ ...task, plan: planOfItem(task.plan, list) });
    if (ran.kind === 'no-room') return endingRow('budget_spent', 'day_budget').exitCode;
    const { status, exit_reason: exitReason, evidence } = ran.end.fields;
    return { status, exitReason, evidence };
  };
  const find = (taskId: string) => findTask(taskId, plan);
  const inTurn = inTurns();
  const resume = async (taskId: string): Promise<ItemRun | number | null> => {
    const asked = { ...outputFlags(open.flags), isTrusted: false };
    const planned = await planAskedResume(taskId, plan, asked);
    if (planned === null) return null;
    const how = { ...planned.resume, announcesOnly: planned.isUntold };
    const { plan: task } = planned;
    return ended({ plan: task, resume: how, view: view(taskId, task), said });
  };
  return {
    ...{ stateDir: plan.stateDir, file, shown, sections, only, places, stops: runs.stops },
    maxCostUsd: plan.policy.maxCostUsd,
    find,
    source:
      printed === null
        ? fileSource({ file: file ?? '', shown, sections })
        : printedSource(printed, printed.first, { known: printed.known, stops: runs.stops }),
    calls: itemCalls(named.commands, open.run, runs.stops),
    taskIdOf: (item) => taskIdOf(name, item),
    async commitOf(taskId) {
      const found = find(taskId);
      return found === null
        ? null
        : commitOfTask(found.state, { ...plan, cwd: startFolderOf(plan) });
    },
    save: (state) => saveListState(plan, state),
    async start(started) {
      const planned = await planItem(open, started, base);
      const news = announcements(planned).filter((sentence) => !said.has(sentence));
      for (const sentence of news) said.add(sentence);
      return ended({
        plan: planned,
        view: view(started.taskId, planned),
        announcements: news,
        said,
      });
    },
    resume,
    async land(taskId) {
      const { state, paths } = existingTask(taskId, plan);
      const warn = (sentence: string): void => tell(`${taskId}: ${sentence}`);
      const { signal } = runs.stops;
      return inTurn(() =>
        landItem({ state, paths, place: plan, list: file, env: process.env, signal, warn }),
      );
    },
    async goBack(taskId, hint) {
      await returnItem(existingTask(taskId, plan).state, hint, plan);
      return resume(taskId);
    },
    async undo(taskId) {
      const found = find(taskId);
      if (found === null) return { kind: 'failed', why: 'its state is gone' };
      return undoItem({ ...found, place: plan, canBeResumed: true });
    },
    report: (event) => report(event, open, print, tell),
  };
}

function planItem(
  open: OpenList,
  { item, taskId, place, count, done }: StartedItem,
  base: string | undefined,
): Promise<RunPlan> {
  const { plan, shown, commandsOf, runsItemChecks } = open;
  const ofItem = runsItemChecks ? commandsOf(item) : [];
  const checks = [...plan.settings.verify.map(({ command }) => command), ...ofItem];
  const { id, name, text } = item;
  const prompt = itemPrompt(
    { list: shown, isFile: open.file !== null, id, name, text, place, count, checks, done },
    rulesForAll(plan.policy.agents),
  );
  // The criteria were read before the first item: an agent may have rewritten the file of `--criteria` since.
  const given = [...plan.settings.criterion, ...item.criteria].slice(0, MOST_CRITERIA);
  const criteria = judgeOf(plan.settings) === null ? null : given;
  const task = { taskId, prompt, checks: ofItem, criteria };
  return planItemTask(open, base === undefined ? task : { ...task, base });
}

function report(
  event: ListEvent,
  { shown, plan, named: { typed } }: OpenList,
  print: ListRun['print'],
  tell: ListRun['tell'],
): void {
  const line = listEventLine(event, { source: shown, typed, most: MOST_RETURNS });
  if (event.kind === 'done') {
    const { item, taskId, proof, commit } = event;
    const landed = commit === null ? {} : { commit };
    print({ event: 'item_done', item, task_id: taskId, proof, ...landed }, line);
  } else if (event.kind === 'blocked') {
    const { item, taskId, reason, undone } = event;
    print({ event: 'item_blocked', item, task_id: taskId, reason }, line);
    if (undone.kind === 'undone') tell(redoLine(item, taskId));
  } else {
    if (plan.settings.json && (event.kind === 'left' || event.kind === 'not-told')) {
      const name = event.kind === 'left' ? 'item_left' : 'item_not_told';
      print({ event: name, item: event.item, why: event.why }, '');
    }
    tell(line);
  }
}

async function announceEnd(
  { plan, shown, name, named, only, file }: OpenList,
  { exitCode, state, list, added, unproven, ticked, isCut, left, unsettled, failure }: ListEnd,
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
  if (failure !== null) say(failure);
  const line = listEndLine(shown, { ...counts, total: stands.length, unproven, left });
  const event = { event: 'list_ended', list: name, exit_code: exitCode, ...counts };
  if (plan.settings.json) print(event, line);
  tell(line);
  const { commit, worktree } = plan.settings;
  if ((commit || worktree) && ticked > 0 && file !== null)
    tell(`the ticks in ${shown} are not committed`);
  if (exitCode === 0 && !isStuck(list, state)) removeListNote(plan.vault, name);
  if (exitCode !== 5 || isCut) return;
  const items = stands
    .filter(
      ({ item, state: stand }) =>
        stand === 'blocked' || (stand === 'waiting' && !unsettled.has(item.id)),
    )
    .map(({ item, waitsFor }) => {
      const record = state.items.find(
        ({ id, state: stand }) => id === item.id && stand === 'blocked',
      );
      const reason = record === undefined ? null : (record.reason ?? 'it failed');
      return { id: item.id, title: item.name, taskId: taskIdOf(name, item.id), reason, waitsFor };
    });
  const titles = new Map(list.items.map((item) => [item.id, item.name]));
  const others = [...unsettled].map(([id, why]) => ({ id, title: titles.get(id) ?? id, why }));
  const created = new Date().toISOString();
  const text = renderListNote(
    { list: name, source: shown, typed: named.typed, items, others },
    { created, stateDir: plan.stateDir },
  );
  await writeListNote(plan.vault, name, created, text).then(
    (note) => tell(`what cannot be started is in ${note}`),
    (error: unknown) => tell(`The note for a human could not be written: ${messageOf(error)}`),
  );
}

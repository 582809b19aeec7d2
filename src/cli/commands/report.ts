import path from 'node:path';
import { maskDeep } from '../../core/secrets/secrets.ts';
import { parseDuration } from '../../core/settings/duration.ts';
import { type Briefing, makeBriefing } from '../../core/task/briefing.ts';
import type { FoundRun } from '../../core/task/briefing-sources.ts';
import type { LinesByIteration } from '../../core/task/line-changes.ts';
import { laterBy, type TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { writeFileAtomic } from '../../effects/files/write-file.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import { readJournal } from '../../effects/logs/journal-reader.ts';
import { listTasksSince } from '../../effects/state/task-list.ts';
import { keyFlag } from '../../effects/trust/key.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { openNotes, openRequests } from '../../effects/vault/open-notes.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { renderBriefing } from '../../report/briefing/briefing.ts';
import { briefingJson } from '../../report/briefing/briefing-json.ts';
import { dayOfAll } from '../tasks/day-view.ts';
import {
  type FolderOptions,
  foldersOf,
  startFolder,
  type TaskFolders,
} from '../tasks/named-folders.ts';
import { shownOf } from '../tasks/task-view.ts';
import { say, standardOutlet } from '../terminal/outlet.ts';

export interface ReportOptions extends FolderOptions {
  /** A duration; default `7d`. */
  readonly since?: string;
  readonly json?: boolean;
  /** The file for an HTML page. */
  readonly html?: string;
}

/** `ralph report`: shows what happened in a period, and what needs a person. Changes nothing in the vault. */
export async function report(options: ReportOptions): Promise<number> {
  const { since = '7d', json = false, html } = options;
  const spanMs = parseDuration(since);
  if (spanMs === null || spanMs === 0) {
    throw new UsageError([`--since expects a duration such as 7d, 12h or 90m; found '${since}'.`]);
  }
  const until = new Date().toISOString();
  const briefing = await briefingOf(foldersOf(options), laterBy(until, -spanMs), until);
  if (html !== undefined) await writePage(briefing, path.resolve(startFolder(), html));
  if (json) {
    await standardOutlet().write(`${safeJson(briefingJson(briefing), 2)}\n`);
  } else if (html === undefined) {
    await standardOutlet().write(renderBriefing(briefing));
  }
  return 0;
}

async function writePage(briefing: Briefing, file: string): Promise<void> {
  const { renderPage } = await import('../../report/briefing/html/page.ts');
  try {
    await writeFileAtomic(file, renderPage(briefing));
  } catch (error) {
    throw new UsageError([`--html expects a writable file; ${messageOf(error)}.`]);
  }
  say(`the report is in ${file}`);
}

/** Gathers the briefing of a period, without control characters and secrets. */
async function briefingOf(place: TaskFolders, since: string, until: string): Promise<Briefing> {
  const { vault, stateDir } = place;
  const here = thisPlace(until);
  const { open, ended } = listTasksSince(stateDir, Date.parse(since), sealAt(place));
  const runs: FoundRun[] = [];
  for (const entry of [...open, ...ended]) {
    const shown = shownOf(entry, here);
    const task = entry.found.kind === 'task' ? entry.found.state : null;
    const { stateFile, logDir } = shown;
    runs.push({
      shown: { ...clean(shown), stateFile, logDir },
      task: clean(task),
      // One task after another, since there may be hundreds.
      lines: task !== null && shown.isOwn ? await linesOf(task, logDir) : {},
    });
  }
  return makeBriefing({
    since,
    until,
    vault,
    stateDir,
    keyFlag: keyFlag(place.keyFile, process.env),
    runs,
    journal: clean(await readJournal(path.join(stateDir, 'events.jsonl'), since)),
    notes: openNotes(vault),
    requests: openRequests(vault),
    day: dayOfAll([...open, ...ended], stateDir, until),
  });
}

async function linesOf(task: TaskState, folder: string): Promise<LinesByIteration> {
  if (task.git.snapshots === null) return {};
  const { linesByIteration } = await import('../../compose/git-commands/iteration-lines.ts');
  return linesByIteration(task, folder, process.env);
}

function clean<T>(value: T): T {
  return withoutControlsIn(maskDeep(value));
}

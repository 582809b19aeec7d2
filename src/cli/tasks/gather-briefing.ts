import path from 'node:path';
import { maskDeep } from '../../core/secrets/secrets.ts';
import { parseDuration } from '../../core/settings/duration.ts';
import { type Briefing, makeBriefing } from '../../core/task/briefing.ts';
import type { FoundRun, OpenNote } from '../../core/task/briefing-sources.ts';
import type { ShownTask } from '../../core/task/shown-task.ts';
import { laterBy } from '../../core/task/task-state.ts';
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
import type { TableOptions } from '../../report/screens/status.ts';
import { jsonText, say, standardOutlet } from '../terminal/outlet.ts';
import { terminalOf } from '../terminal/terminal-look.ts';
import { dayOfAll } from './day-view.ts';
import { type StoreOptions, startFolder, type TaskFolders } from './named-folders.ts';
import { completionOf, shownOf } from './task-view.ts';

export interface ReportOptions extends StoreOptions {
  /** A duration; default `7d`. */
  readonly since?: string;
  readonly json?: boolean;
  /** Whether to print Markdown even on a terminal. */
  readonly markdown?: boolean;
  /** The file for an HTML page. */
  readonly html?: string;
}

/** The period of a briefing (the report on all tasks), as ISO instants. */
export interface BriefingPeriod {
  readonly since: string;
  readonly until: string;
}

/** Returns the period that ends at the instant `until`. Throws a `UsageError`. */
export function periodOf({ since = '7d' }: ReportOptions, until: string): BriefingPeriod {
  const spanMs = parseDuration(since);
  if (spanMs === null || spanMs === 0) {
    throw new UsageError([`--since expects a duration such as 7d, 12h or 90m; found '${since}'.`]);
  }
  return { since: laterBy(until, -spanMs), until };
}

/** Prints a briefing, or writes it as a page. `head` is printed before the text. */
export async function printBriefing(
  briefing: Briefing,
  { json = false, markdown = false, html }: ReportOptions,
  head = '',
): Promise<void> {
  if (html !== undefined) await writePage(briefing, path.resolve(startFolder(), html));
  if (json) {
    await standardOutlet().write(jsonText(briefingJson(briefing)));
  } else if (html === undefined) {
    const { stdout, env } = process;
    const text =
      stdout.isTTY && !markdown
        ? await screenOf(briefing, (await terminalOf(stdout, env))())
        : renderBriefing(briefing);
    await standardOutlet().write(`${head}${text}`);
  }
}

async function screenOf(briefing: Briefing, look: TableOptions): Promise<string> {
  const { reportScreen } = await import('../../report/briefing/report-screen.ts');
  return reportScreen(briefing, look);
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

/** Changes what a briefing shows: its tasks (by `shown`), its notes, and the place that it names. */
export interface BriefingView {
  readonly shown: (task: ShownTask) => ShownTask;
  readonly notes: readonly OpenNote[];
  readonly place: Pick<Briefing, 'vault' | 'stateDir' | 'fleetWords'>;
}

/** Gathers the briefing of a period from a state folder, without control characters and secrets. */
export async function gatherBriefing(
  place: TaskFolders,
  { since, until }: BriefingPeriod,
  view: BriefingView | null = null,
): Promise<Briefing> {
  const { vault, stateDir } = place;
  const here = thisPlace(until);
  const { open, ended } = listTasksSince(stateDir, Date.parse(since), sealAt(place));
  const runs: FoundRun[] = [];
  for (const entry of [...open, ...ended]) {
    const filed = shownOf(entry, here);
    const shown = view === null ? filed : view.shown(filed);
    const task = entry.found.kind === 'task' ? entry.found.state : null;
    const { stateFile, logDir } = shown;
    runs.push({
      shown: { ...clean(shown), stateFile, logDir },
      task: clean(task),
      completion: () => clean(completionOf(entry)),
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
    notes: view === null ? openNotes(vault) : clean(view.notes),
    requests: openRequests(vault),
    day: dayOfAll([...open, ...ended], stateDir, until),
    ...view?.place,
  });
}

function clean<T>(value: T): T {
  return withoutControlsIn(maskDeep(value));
}

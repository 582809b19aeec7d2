import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { AgentName } from '../../core/agent/agents/agents.ts';
import { type Leave, leave, type VaultNote } from '../../core/rescue/vault-files.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { hasRoom } from '../../core/task/day-budget.ts';
import { HEARTBEAT_MS } from '../../core/task/driver.ts';
import { MB, readTextWithin } from '../../effects/files/bounded-read.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import { thisDriver, thisPlace } from '../../effects/lock/driver-identity.ts';
import { claimTask } from '../../effects/lock/task-lock.ts';
import { createDayCounter, type DayCounter } from '../../effects/logs/day-spending.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { combinedStop, watchSignals } from '../../effects/processes/signals.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { noteContent, writeNote } from '../../effects/vault/note-file.ts';
import { openNotes } from '../../effects/vault/open-notes.ts';
import { rescueRecords } from '../../effects/vault/rescue-records.ts';
import { moveWithin } from '../../effects/vault/task-file.ts';
import { IN_PROGRESS, NEEDS_ACTION, QUARANTINE } from '../../effects/vault/vault-folders.ts';
import { lookAgain, lookAtVault, type VaultPlace } from '../../effects/vault/vault-scan.ts';
import { BeyondPassError, messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { NOTE_REASONS, renderVaultNote } from '../../report/notes/vault-note.ts';
import type { RunView } from '../../report/terminal/view.ts';
import type {
  NoRoom,
  RanTask,
  TaskRequest,
  Vault,
  VaultNotes,
  VaultPorts,
} from '../../rescue/ports.ts';
import { TaskAlreadyActiveError, UntrustedTaskError } from '../../task-errors.ts';
import type { Resume } from '../held-run.ts';
import { startRun } from '../run.ts';
import { type WorkTreeHolds, workTreeHolds } from '../work-tree-hold.ts';

/** A run of the task of one vault file, ready to start. */
export interface FileRun {
  readonly plan: RunPlan;
  readonly view: RunView;
  readonly announcements: readonly string[];
  readonly resume?: Resume;
  readonly said?: Set<string>;
}

export interface OrchestrateOptions {
  /** Absolute path, as are `stateDir` and `doneFolder`. */
  readonly vault: string;
  readonly stateDir: string;
  readonly doneFolder: string;
  /** Absolute path of the key that the user named, or null for the user's own key. */
  readonly keyFile: string | null;
  readonly agent: AgentName;
  /** US dollars for all tasks of a day together; null: no limit. A task may have a lower one of its own. */
  readonly maxCostPerDay: number | null;
  /** Turns a request into a run. Rejects if the run cannot start. */
  readonly prepare: (request: TaskRequest) => Promise<FileRun>;
  /** Calls `run` with a signal that aborts if ralph's own code throws where nothing catches it. */
  readonly endedByBugs: <T>(run: (bugs: AbortSignal) => Promise<T>) => Promise<T>;
  readonly report: VaultPorts['report'];
  /** Shows people a sentence that is not about a single file. */
  readonly warn: (sentence: string) => void;
}

/** Creates the ports of a pass over the vault. `close` stops the handling of signals. */
export function orchestrate(
  options: OrchestrateOptions,
): VaultPorts & { readonly close: () => void } {
  const stops = watchSignals();
  const workTrees = workTreeHolds();
  const journal = path.join(options.stateDir, 'events.jsonl');
  const countDay = createDayCounter(journal, options.warn);
  return {
    vault: vaultDesk(options),
    records: rescueRecords(options.stateDir),
    notes: vaultNotes(options),
    runTask: (request) => runTask(request, options, { stops, workTrees, countDay }),
    report: options.report,
    clock: systemClock,
    stops,
    close: stops.close,
  };
}

function vaultDesk(options: OrchestrateOptions): Vault {
  const { vault, stateDir, doneFolder } = options;
  const place: VaultPlace = {
    vault,
    stateDir,
    seal: sealAt(options, true),
  };
  const here = () => thisPlace(systemClock.now());
  return {
    async list({ withNew }) {
      return lookAtVault(place, withNew ? [IN_PROGRESS, NEEDS_ACTION] : [IN_PROGRESS], here());
    },
    look: async (file) => lookAgain(place, file, here()),
    hold: (ownId) => holdFile(stateDir, ownId),
    async move(file, to) {
      const target = to === 'done' ? path.relative(vault, doneFolder) : QUARANTINE;
      const from = path.join(vault, file.folder, file.name);
      return path.relative(vault, await moveWithin(vault, from, target));
    },
  };
}

/**
 * Claims a vault file, so that only one of several passes handles it. Resolves to null if another pass has
 * it. Rejects if no claim can be stored, since two passes could then start the same file.
 */
async function holdFile(stateDir: string, ownId: string): ReturnType<Vault['hold']> {
  const driver = thisDriver(systemClock.now(), randomUUID());
  const here = () => thisPlace(systemClock.now());
  const result = await claimTask(stateDir, `file.${ownId}`, driver, here);
  if (result.kind === 'taken') return null;
  if (result.kind === 'unwritable') {
    throw new Error(`no claim can be written to ${stateDir} (${messageOf(result.error)})`);
  }
  const { claim } = result;
  const timer = setInterval(() => claim.renew(), HEARTBEAT_MS).unref();
  return {
    release() {
      clearInterval(timer);
      claim.release();
    },
  };
}

function vaultNotes({ vault, stateDir, agent, warn }: OrchestrateOptions): VaultNotes {
  const folder = path.join(vault, NEEDS_ACTION);
  /** Full paths of the existing notes of a kind and task. */
  const there = (kind: VaultNote['kind'], taskId: string): readonly string[] =>
    openNotes(vault)
      .filter((note) => note.reason === NOTE_REASONS[kind] && note.taskId === taskId)
      .map(({ file }) => file);
  const remove = (file: string) => rm(file, { force: true }).catch(() => undefined);
  return {
    async write(note) {
      const at = systemClock.now();
      const text = maskSecrets(renderVaultNote(note, { created: at, agent, stateDir }));
      try {
        if (leadsOut(folder, vault)) throw new Error(`${folder} leads out of the vault`);
        const kept = there(note.kind, note.taskId).find((file) => saysTheSame(file, text));
        const reason = NOTE_REASONS[note.kind];
        return kept ?? (await writeNote({ folder, reason, taskId: note.taskId, at, text }));
      } catch (error) {
        warn(`The note for a human could not be written: ${messageOf(error)}`);
        return null;
      }
    },
    remove,
    async clearBlocked() {
      for (const file of there('blocked', 'rescue')) await remove(file);
    },
  };
}

/** Whether the note in `file` has this text, apart from the time of writing. */
function saysTheSame(file: string, text: string): boolean {
  try {
    return noteContent(readTextWithin(file, MB)) === noteContent(text);
  } catch {
    return false;
  }
}

/** What the tasks of all passes share. */
interface Shared {
  readonly stops: StopRequests;
  readonly workTrees: WorkTreeHolds;
  readonly countDay: DayCounter;
}

async function runTask(
  request: TaskRequest,
  { prepare, endedByBugs, maxCostPerDay }: OrchestrateOptions,
  { stops, workTrees, countDay }: Shared,
): Promise<RanTask | Leave | NoRoom> {
  try {
    const run = await prepare(request);
    const { maxCostPerDay: own } = run.plan.policy;
    const spends = run.resume?.announcesOnly !== true;
    if (spends && (own !== null || maxCostPerDay !== null)) {
      const day = countDay(systemClock.now());
      const isSpent = (maxUsd: number | null): boolean => maxUsd !== null && !hasRoom(day, maxUsd);
      const isForAll = isSpent(maxCostPerDay);
      if (isForAll || isSpent(own)) return { kind: 'no-room', until: day.until, isForAll };
    }
    const { state, fields } = await endedByBugs((bugs) =>
      startRun({ ...run, bugs, workTrees, stops: combinedStop(stops) }),
    );
    return {
      kind: 'ended',
      status: fields.status,
      exitReason: fields.exit_reason,
      exitCode: fields.exit_code,
      startedAt: state.task.started_at,
      note: fields.note,
    };
  } catch (error) {
    const { taskId } = request;
    if (error instanceof TaskAlreadyActiveError) return leave('taken');
    if (error instanceof UntrustedTaskError) return leave('not-yours', taskId);
    if (error instanceof BeyondPassError) {
      return leave('beyond-pass', `${taskId} would run ${error.programs.join(', ')}`);
    }
    throw error;
  }
}

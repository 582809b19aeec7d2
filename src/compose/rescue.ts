import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { AgentName } from '../core/agent/agents/agents.ts';
import { verdictOf } from '../core/rescue/endings.ts';
import type { VaultNote, WorkFolder } from '../core/rescue/vault-files.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { BEAT_MS } from '../core/task/driver.ts';
import { MB, readTextWithin } from '../effects/files/bounded-read.ts';
import { leadsOut } from '../effects/files/real-path.ts';
import { namesIn } from '../effects/files/write-file.ts';
import { thisDriver, thisPlace } from '../effects/lock/driver-identity.ts';
import { claimTask } from '../effects/lock/task-lock.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { linkedStops } from '../effects/processes/linked-stops.ts';
import { watchSignals } from '../effects/processes/signals.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import { openSeal } from '../effects/trust/seal.ts';
import { writeNote } from '../effects/vault/note-file.ts';
import {
  changeRescueRecord,
  closedRecord,
  removeRescueRecord,
  withFailed,
} from '../effects/vault/rescue-records.ts';
import { moveWithin } from '../effects/vault/task-file.ts';
import { lookAgain, lookAtVault, type VaultPlace } from '../effects/vault/vault-scan.ts';
import {
  BeyondPassError,
  messageOf,
  TaskAlreadyActiveError,
  UntrustedTaskError,
} from '../errors.ts';
import type { StopRequests } from '../loop/ports.ts';
import { NOTE_REASONS, renderVaultNote } from '../report/notes/vault-note.ts';
import type { View } from '../report/terminal/view.ts';
import type {
  RescueBooks,
  TaskEnd,
  TaskRequest,
  Vault,
  VaultNotes,
  VaultPorts,
} from '../rescue/ports.ts';
import type { Resume, RunOptions } from './held-run.ts';
import { startRun } from './run.ts';

/** A run of the task of one vault file, ready to start. */
export interface FileRun {
  readonly plan: RunPlan;
  readonly view: View;
  readonly announcements: readonly string[];
  readonly resume?: Resume;
  readonly onOutput?: NonNullable<RunOptions['onOutput']>;
}

export interface OrchestrateOptions {
  /** Absolute path, as are `stateDir` and `doneFolder`. */
  readonly vault: string;
  readonly stateDir: string;
  readonly doneFolder: string;
  /** Absolute path of the key that the user named, or null for the user's own key. */
  readonly keyFile: string | null;
  readonly agent: AgentName;
  /** Turns a request into a run. Rejects if the run cannot start. */
  readonly prepare: (request: TaskRequest) => Promise<FileRun>;
  /** Calls `run` with a signal that aborts if ralph's own code throws where nothing catches it. */
  readonly endedByBugs: <T>(run: (bugs: AbortSignal) => Promise<T>) => Promise<T>;
  readonly tell: VaultPorts['tell'];
  /** Shows people a sentence that is not about a single file. */
  readonly warn: (sentence: string) => void;
}

/** Creates the ports of a pass over the vault. `close` stops the handling of signals. */
export function orchestrate(
  options: OrchestrateOptions,
): VaultPorts & { readonly close: () => void } {
  const stops = watchSignals();
  return {
    vault: vaultDesk(options),
    books: rescueBooks(options.stateDir),
    notes: vaultNotes(options),
    runTask: (request) => runTask(request, options, stops),
    tell: options.tell,
    clock: systemClock,
    stops,
    close: stops.close,
  };
}

function vaultDesk({ vault, stateDir, doneFolder, keyFile }: OrchestrateOptions): Vault {
  const place: VaultPlace = {
    vault,
    stateDir,
    seal: openSeal({ stateDir, keyFile, env: process.env, create: true }),
    saysSomething: (status, exitReason) => verdictOf(status, exitReason) === 'failed',
  };
  const here = () => thisPlace(systemClock.now());
  return {
    async list({ withNew }) {
      const folders: WorkFolder[] = withNew ? ['In_Progress', 'Needs_Action'] : ['In_Progress'];
      return lookAtVault(place, folders, here());
    },
    look: async (file) => lookAgain(place, file, here()),
    hold: (ownId) => holdFile(stateDir, ownId),
    async move(file, to) {
      const target = to === 'done' ? path.relative(vault, doneFolder) : 'Quarantine';
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
  const timer = setInterval(() => claim.renew(), BEAT_MS).unref();
  return {
    release() {
      clearInterval(timer);
      claim.release();
    },
  };
}

function rescueBooks(stateDir: string): RescueBooks {
  return {
    async countFailed(rescueId, startedAt) {
      const after = await changeRescueRecord(stateDir, rescueId, (before) =>
        withFailed(before, startedAt),
      );
      return after.failed.length;
    },
    async adopt(rescueId) {
      await changeRescueRecord(stateDir, rescueId, (before) => ({ ...before, is_ours: true }));
    },
    async close(rescueId) {
      // The record keeps a failure in the state from being counted twice. Here there is no state.
      if (!existsSync(taskPaths(stateDir, rescueId).stateFile)) {
        return removeRescueRecord(stateDir, rescueId);
      }
      await changeRescueRecord(stateDir, rescueId, () => closedRecord(systemClock.now()));
    },
  };
}

function vaultNotes({ vault, stateDir, agent, warn }: OrchestrateOptions): VaultNotes {
  const folder = path.join(vault, 'Needs_Action');
  /** Returns the full paths of the existing notes of a kind about a task. */
  const there = (kind: VaultNote['kind'], taskId: string): readonly string[] => {
    const prefix = `RALPH_${NOTE_REASONS[kind]}_${taskId}_`;
    return namesIn(folder)
      .filter(
        (name) => name.startsWith(prefix) && /^\d{8}T\d{6}Z\.md$/.test(name.slice(prefix.length)),
      )
      .map((name) => path.join(folder, name));
  };
  return {
    async leave(note) {
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
    takeBack: (file) => rm(file, { force: true }).catch(() => undefined),
    async clearBlocked() {
      if (leadsOut(folder, vault)) return;
      for (const file of there('blocked', 'rescue')) {
        await rm(file, { force: true }).catch(() => undefined);
      }
    },
  };
}

/** Whether the note in `file` has this text, apart from the time of writing. */
function saysTheSame(file: string, text: string): boolean {
  const plain = (note: string): string => note.replace(/^created: .*$/m, '');
  try {
    return plain(readTextWithin(file, MB)) === plain(text);
  } catch {
    return false;
  }
}

async function runTask(
  request: TaskRequest,
  { prepare, endedByBugs }: OrchestrateOptions,
  all: StopRequests,
): Promise<TaskEnd> {
  try {
    const run = await prepare(request);
    const { state, fields } = await endedByBugs((bugs) =>
      startRun({ ...run, bugs, stops: linkedStops(all) }),
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
    if (error instanceof TaskAlreadyActiveError) return { kind: 'taken' };
    if (error instanceof UntrustedTaskError) {
      return { kind: 'refused', reason: 'not-yours', detail: taskId };
    }
    if (error instanceof BeyondPassError) {
      const detail = `${taskId} would run ${error.programs.join(', ')}`;
      return { kind: 'refused', reason: 'beyond-pass', detail };
    }
    throw error;
  }
}

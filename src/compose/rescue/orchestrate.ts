import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Leave, leave, type VaultNote } from '../../core/rescue/vault-files.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { MB, tryReadText } from '../../effects/files/bounded-read.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { noteContent, writeNote } from '../../effects/vault/note-file.ts';
import { openNotes } from '../../effects/vault/open-notes.ts';
import { rescueRecords } from '../../effects/vault/rescue-records.ts';
import { moveWithin } from '../../effects/vault/task-file.ts';
import { IN_PROGRESS, NEEDS_ACTION, QUARANTINE } from '../../effects/vault/vault-folders.ts';
import { lookAgain, lookAtVault, type VaultPlace } from '../../effects/vault/vault-scan.ts';
import { BeyondPassError, messageOf } from '../../errors.ts';
import { NOTE_REASONS, renderVaultNote } from '../../report/notes/vault-note.ts';
import type {
  NoRoom,
  RanTask,
  TaskRequest,
  Vault,
  VaultNotes,
  VaultPorts,
} from '../../rescue/ports.ts';
import { TaskAlreadyActiveError, UntrustedTaskError } from '../../task-errors.ts';
import {
  holdName,
  type PlannedTask,
  type RunBounds,
  type SharedRuns,
  sharedRuns,
} from './shared-runs.ts';

export interface OrchestrateOptions {
  /** The plan without a task file, for a pass (a look at all files of the vault). All tasks share its daily budget. */
  readonly plan: RunPlan;
  /** Turns the request to run a task into a planned run. Rejects if the run cannot start. */
  readonly prepare: (request: TaskRequest) => Promise<PlannedTask>;
  readonly endedByBugs: RunBounds['endedByBugs'];
  readonly report: VaultPorts['report'];
  /** Shows people a sentence that is not about a single file. */
  readonly warn: (sentence: string) => void;
}

/** Returns the functions by which a pass over the vault reads, runs and reports. `close` stops handling signals. */
export function orchestrate(
  options: OrchestrateOptions,
): VaultPorts & { readonly close: () => void } {
  const { plan, prepare, endedByBugs, warn } = options;
  const { maxCostPerDay } = plan.policy;
  const runs = sharedRuns(plan.stateDir, warn, { maxCostPerDay, endedByBugs });
  return {
    vault: vaultDesk(plan),
    records: rescueRecords(plan.stateDir),
    notes: vaultNotes(options),
    runTask: (request) => runTask(request, prepare, runs),
    report: options.report,
    clock: systemClock,
    stops: runs.stops,
    close: runs.stops.close,
  };
}

function vaultDesk(plan: RunPlan): Vault {
  const { vault, stateDir, policy } = plan;
  const place: VaultPlace = { vault, stateDir, seal: sealAt(plan, true) };
  const here = () => thisPlace(systemClock.now());
  return {
    async list({ withNew }) {
      return lookAtVault(place, withNew ? [IN_PROGRESS, NEEDS_ACTION] : [IN_PROGRESS], here());
    },
    look: async (file) => lookAgain(place, file, here()),
    hold: (ownId) => holdName(stateDir, `file.${ownId}`),
    async move(file, to) {
      const target = to === 'done' ? path.relative(vault, policy.doneFolder) : QUARANTINE;
      const from = path.join(vault, file.folder, file.name);
      return path.relative(vault, await moveWithin(vault, from, target));
    },
  };
}

function vaultNotes({ plan, warn }: OrchestrateOptions): VaultNotes {
  const { vault, stateDir, policy } = plan;
  const folder = path.join(vault, NEEDS_ACTION);
  /** Returns the full paths of a task's existing notes of this kind. */
  const there = (kind: VaultNote['kind'], taskId: string): readonly string[] =>
    openNotes(vault)
      .filter((note) => note.reason === NOTE_REASONS[kind] && note.taskId === taskId)
      .map(({ file }) => file);
  const remove = (file: string) => rm(file, { force: true }).catch(() => undefined);
  return {
    async write(note) {
      const at = systemClock.now();
      const text = maskSecrets(
        renderVaultNote(note, { created: at, agent: policy.agent, stateDir }),
      );
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
  const there = tryReadText(file, MB);
  return there !== null && noteContent(there) === noteContent(text);
}

async function runTask(
  request: TaskRequest,
  prepare: OrchestrateOptions['prepare'],
  runs: SharedRuns,
): Promise<RanTask | Leave | NoRoom> {
  try {
    const ran = await runs.run(await prepare(request));
    if (ran.kind === 'no-room') return ran;
    const { state, fields } = ran.end;
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

import path from 'node:path';
import { isAgentName } from '../core/agent/agents/agents.ts';
import { commandsToCheck, doneWhen } from '../core/completion/conditions/conditions.ts';
import type { Ending, LoopState } from '../core/machine/loop-state.ts';
import { describeMissing } from '../core/prompt/describe-missing.ts';
import { failedOutputs } from '../core/prompt/failed-outputs.ts';
import type { Handover, Missing } from '../core/prompt/handover.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { refusedLast } from '../core/task/task-state.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import { leadsOut } from '../effects/files/real-path.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { allowing } from '../effects/plan/task-facts.ts';
import type { TreeKeeper } from '../effects/snapshots/keeper/tree-keeper.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import { removeNotesOf, writeNote } from '../effects/vault/note-file.ts';
import { NEEDS_ACTION } from '../effects/vault/vault-folders.ts';
import { messageOf } from '../errors.ts';
import type { NoteWriter, Ports } from '../loop/ports.ts';
import { fromItsFolder } from '../printed-command.ts';
import { renderNote } from '../report/notes/note.ts';
import { proofNotKept } from '../report/notices.ts';
import { type ResumeFacts, resumeCommand } from '../report/resume-command.ts';
import type { ClaimedRun } from './held-run.ts';

/** Facts for a note that the task's state does not contain. */
interface NoteFacts
  extends Pick<RunPlan, 'taskId' | 'vault' | 'stateDir' | 'keyFlag' | 'policy'>,
    Pick<ResumeFacts, 'allowing'> {
  /** Whether a person has to trust the task explicitly before it can be resumed. */
  readonly needsTrust: boolean;
  /** The command that resumes the task in a fleet, where the usual one would not work. */
  readonly again?: string;
}

/** Returns the functions that write and remove the notes for a person about one task. */
export function noteWriter({ plan, paths, seal, warn, leg }: ClaimedRun): NoteWriter {
  const place = leg === undefined ? {} : { vault: leg.notes.folder, again: leg.notes.again };
  const facts = { ...plan, needsTrust: seal.problem !== null, allowing: allowing(plan), ...place };
  return {
    async write(state, ending) {
      try {
        return await leaveNote(facts, paths, state, ending, systemClock.now());
      } catch (error) {
        warn(`The note for a human could not be written: ${messageOf(error)}`);
        return null;
      }
    },
    clear: () => removeNotesOf({ ...facts, stateFile: paths.stateFile }),
  };
}

/** Returns the function that writes the proof of a task. Its code is loaded only if there is something to prove. */
export function proofKeeper(
  { plan, paths, seal, warn }: ClaimedRun,
  keeper: Pick<TreeKeeper, 'git'> | null,
): Ports['keepProof'] {
  const { settings, policy, cwd } = plan;
  const { setup, copy } = settings;
  const isLookedInto = policy.verify.length > 0 || policy.proof !== 'tell';
  if (!isLookedInto && policy.judge === null) return async () => {};
  return async (state) => {
    try {
      const { keepProof } = await import('../effects/proof/keep-proof.ts');
      await keepProof({
        ...{ folder: paths.folder, seal, state, cwd, git: keeper?.git ?? null },
        commands: commandsToCheck(policy),
        setup: { setup, copy, timeout_ms: policy.iterationTimeoutMs },
      });
    } catch (error) {
      warn(proofNotKept(messageOf(error)));
    }
  };
}

/** Writes the note that `ending` needs. Resolves to its path; null if none is needed. Rejects if that fails. */
export async function leaveNote(
  facts: NoteFacts,
  paths: Pick<TaskPaths, 'stateFile' | 'folder'>,
  { task, carry, toldServers = [] }: LoopState,
  ending: Ending,
  at: string,
): Promise<string | null> {
  if (ending.note === null) return null;
  const { policy, vault, taskId } = facts;
  const folder = path.join(vault, NEEDS_ACTION);
  if (leadsOut(folder, vault)) throw new Error(`${folder} is a link that leads out of the vault.`);
  const note = renderNote({
    task,
    ending,
    agent: [ending.judge, task.agent].find(isAgentName) ?? policy.agent,
    created: at,
    stateFile: paths.stateFile,
    logDir: paths.folder,
    completion: doneWhen(policy),
    lastOutput: carry.output === null ? null : withoutControls(carry.output).slice(-8_000),
    missing: withServers(carry.missing, toldServers).map((each) => describeMissing(each, policy)),
    commandOutputs: failedOutputs(carry),
    checkout: keptCheckout(carry),
    again:
      facts.again ??
      fromItsFolder(
        resumeCommand(facts, ending.status, ending.exitReason, {
          ...(ending.accepting === undefined ? {} : { accepting: ending.accepting }),
          refused: refusedLast(task),
        }),
      ),
  });
  return writeNote({ folder, reason: ending.note, taskId, at, text: maskSecrets(note) });
}

/** Adds the tool servers that did not start to what was missing, unless `missing` names such servers already. */
function withServers(missing: readonly Missing[], servers: readonly string[]): readonly Missing[] {
  const isNamed = servers.length === 0 || missing.some(({ kind }) => kind === 'lost-servers');
  return isNamed ? missing : [...missing, { kind: 'lost-servers', servers }];
}

/** Returns the folder of the clean checkout in which the checks last failed, if it was kept; else null. */
function keptCheckout({ missing }: Handover): string | null {
  const folders = missing.flatMap((each) =>
    each.kind === 'held' && each.held.gate === 'clean-checkout' ? [each.held.folder] : [],
  );
  return folders[0] ?? null;
}

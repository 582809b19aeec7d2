import path from 'node:path';
import { describeCompletion } from '../core/completion/conditions/conditions.ts';
import { describeMissing, failedOutputs } from '../core/machine/prompt.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import { leadsOut } from '../effects/files/real-path.ts';
import { systemClock } from '../effects/time/clock.ts';
import { writeNote } from '../effects/vault/note-file.ts';
import { messageOf } from '../errors.ts';
import type { NoteWriter } from '../loop/ports.ts';
import { renderNote } from '../report/notes/note.ts';
import { resumeCommand } from '../report/resume-command.ts';
import type { HeldRun } from './held-run.ts';

/** Writes the notes of one task into its vault. */
export function noteWriter({
  plan,
  paths,
  seal,
  warn,
}: Pick<HeldRun, 'plan' | 'paths' | 'seal' | 'warn'>): NoteWriter {
  const facts = { ...plan, needsTrust: seal.problem !== null };
  return {
    async write({ task, carry }, ending) {
      const at = systemClock.now();
      const text = maskSecrets(
        renderNote({
          task,
          ending,
          agent: plan.policy.agent,
          created: at,
          stateFile: paths.stateFile,
          logDir: paths.folder,
          completion: describeCompletion(plan.policy),
          lastOutput: carry.output === null ? null : withoutControls(carry.output).slice(-8_000),
          missing: carry.missing.map((missing) => describeMissing(missing, plan.policy)),
          commandOutputs: failedOutputs(carry),
          again: resumeCommand(facts, ending.status),
        }),
      );
      const folder = path.join(plan.vault, 'Needs_Action');
      try {
        if (leadsOut(folder, plan.vault)) throw new Error(`${folder} leads out of the vault`);
        return await writeNote({
          folder,
          reason: ending.note ?? 'FAILED',
          taskId: task.task_id,
          at,
          text,
        });
      } catch (error) {
        warn(`The note for a human could not be written: ${messageOf(error)}`);
        return null;
      }
    },
  };
}

import path from 'node:path';
import { announceMissedEnd } from '../compose/resume/announce-missed-end.ts';
import { type PlannedResume, planResume } from '../compose/resume/plan-resume.ts';
import { settle } from '../compose/settings.ts';
import type { Layer } from '../core/settings/setting-source.ts';
import { isTaskId } from '../core/task/task-id.ts';
import type { TaskState } from '../core/task/task-state.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import { readStateFile } from '../effects/state/state-file.ts';
import { inHistory, taskPaths } from '../effects/state/task-folder.ts';
import { sealAt } from '../effects/trust/seal.ts';
import { vaultAbove } from '../effects/vault/vault-above.ts';
import type { RunView } from '../report/terminal/view.ts';
import { TaskNotFoundError, UntrustedTaskError } from '../task-errors.ts';

/** An open task that a program resumes. */
export interface TaskToResume {
  readonly taskId: string;
  /** The settings that change with this resume, as they were written. */
  readonly layer: Layer;
  readonly passthrough: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly view: RunView;
  readonly stops: () => SignalWatch;
}

/** The result of planning a resume: a run, or a task that has already completed. */
export type Resumption =
  | ({ readonly kind: 'open' } & Pick<PlannedResume, 'plan' | 'resume'>)
  | { readonly kind: 'completed'; readonly state: TaskState; readonly stateFile: string };

/**
 * Plans the resume of a task, as `ralph resume` does. If the process that ran the task died before it announced the
 * task's end, announces the end first. Rejects with `TaskNotFoundError`, or if the task cannot be resumed.
 */
export async function planTaskResume(request: TaskToResume): Promise<Resumption> {
  const { taskId, layer, passthrough, env, view, stops } = request;
  const startDir = process.cwd();
  const place = placeOf(layer, startDir);
  if (!isTaskId(taskId)) throw new TaskNotFoundError(taskId, place.stateDir);
  const plan = () =>
    planResume({
      ...{ taskId, place, layer, passthrough, env, startDir },
      ...{ problems: [], isTrusted: false, allowed: null },
      collect: async (flags) => ({
        ...(await settle({ flags, variables: {}, config: {}, taskTypes: {}, startDir })),
        powers: [],
      }),
    });
  let planned = await plan();
  if (planned?.isUntold === true) {
    await announceMissedEnd({ plan: planned.plan, view }, { stops });
    planned = await plan();
  }
  if (planned !== null) return { kind: 'open', plan: planned.plan, resume: planned.resume };
  const { stateFile } = inHistory(taskPaths(place.stateDir, taskId), taskId);
  const file = readStateFile(stateFile, sealAt(place));
  if (file.kind !== 'task') throw new TaskNotFoundError(taskId, place.stateDir);
  if (!file.isOwn) {
    throw new UntrustedTaskError(taskId, place.stateDir, 'was not written by you here', []);
  }
  return { kind: 'completed', state: file.state, stateFile };
}

function placeOf(layer: Layer, startDir: string) {
  const named = (name: 'vault' | 'stateDir' | 'keyFile'): string | null => {
    const value = layer[name]?.value;
    return typeof value === 'string' ? path.resolve(startDir, value) : null;
  };
  const vault = named('vault') ?? vaultAbove(startDir);
  return {
    vault,
    stateDir: named('stateDir') ?? path.join(vault, '.ralph_state'),
    keyFile: named('keyFile'),
  };
}

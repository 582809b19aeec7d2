import type { SubmitRow } from '../../../core/settings/rows/setting-row.ts';
import { type Layer, textOf } from '../../../core/settings/setting-source.ts';
import { SETTINGS } from '../../../core/settings/settings.ts';
import { defaultTaskId } from '../../../core/task/task-id.ts';
import { SUBMIT_SETTINGS, type SubmitLayer } from '../../core/submit-settings.ts';
import { type LineProblem, readBatch, readBatchText } from './batch-lines.ts';
import { planTask, type TaskToQueue } from './planned-task.ts';

/** The settings from the command line and the environment. */
export interface Asked {
  readonly layer: Layer & SubmitLayer;
  /** The settings from environment variables that a task may have. */
  readonly variables: Layer;
  readonly passthrough: readonly string[];
}

/** The functions and values of the outside world that planning needs. */
export interface PlanningWorld {
  readonly startDir: string;
  readonly readStdin: () => Promise<Uint8Array>;
  readonly now: () => Date;
  readonly random: () => number;
}

/** Plans the one task of the command line. Resolves to a list of it, which is empty if `problems` were added. */
export async function planOne(
  asked: Asked,
  { startDir, readStdin, now, random }: PlanningWorld,
  problems: string[],
): Promise<readonly TaskToQueue[]> {
  const planned = await planTask({
    ...{ ...asked, startDir, readStdin, again: asked.layer.again !== undefined },
    named: (flag) => flag,
    newTaskId: () => defaultTaskId(now().toISOString(), random()),
  });
  if ('task' in planned) return [planned];
  problems.push(...planned.problems);
  return [];
}

const ROWS: Readonly<Record<string, SubmitRow>> = { ...SETTINGS, ...SUBMIT_SETTINGS };

/** Plans every line of a batch. Resolves to the tasks, and adds to `problems` a sentence for each problem of a line. */
export async function planBatch(
  { layer, variables, passthrough }: Asked,
  { startDir, now, random, readStdin }: PlanningWorld,
  problems: string[],
): Promise<readonly TaskToQueue[]> {
  for (const [name, { source }] of Object.entries(layer)) {
    if (ROWS[name]?.fleet === 'command') continue;
    problems.push(
      name === 'wait'
        ? '--wait follows one task; found --batch.'
        : `${source.where} describes one task; with --batch it is in the lines of the file.`,
    );
  }
  if (passthrough.length > 0) {
    problems.push('Words after -- are for one task; with --batch use the key agent_arguments.');
  }
  const text = await readBatchText(textOf(layer.batch) ?? '', readStdin);
  if (typeof text !== 'string') {
    problems.push(text.problem);
    return [];
  }
  const batch = readBatch(text);
  const wrong: LineProblem[] = [...batch.problems];
  const lineOf = new Map<string, number>();
  const planned: TaskToQueue[] = [];
  const newTaskId = (): string => {
    for (;;) {
      const id = defaultTaskId(now().toISOString(), random());
      if (!lineOf.has(id)) return id;
    }
  };
  const again = layer.again !== undefined;
  for (const { number: line, ...each } of batch.lines) {
    const found = await planTask({ ...each, variables, startDir, again, named: asKey, newTaskId });
    if ('problems' in found) {
      wrong.push(...found.problems.map((sentence) => ({ line, sentence })));
      continue;
    }
    const { task_id } = found.task.spec;
    const first = lineOf.get(task_id);
    if (first !== undefined) {
      const sentence = `task_id '${task_id}' is already used in line ${first}; each task needs its own.`;
      wrong.push({ line, sentence });
    }
    lineOf.set(task_id, first ?? line);
    planned.push(found);
  }
  problems.push(
    ...wrong
      .sort((one, other) => one.line - other.line)
      .map(({ line, sentence }) => (line === 0 ? sentence : `line ${line}: ${sentence}`)),
  );
  return planned;
}

/** Returns the key of a flag in a line of a batch: `not_before` for `--not-before`. */
function asKey(flag: string): string {
  return flag.slice(2).replaceAll('-', '_');
}

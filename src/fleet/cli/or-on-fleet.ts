import { type FolderOptions, foldersOf } from '../../cli/tasks/named-folders.ts';
import { say } from '../../cli/terminal/outlet.ts';
import { FleetAwayError, FleetError } from '../../errors.ts';
import { TaskNotFoundError } from '../../task-errors.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { onlyOnFleetText } from '../report/fleet-words.ts';
import { fleetNamed } from './which-fleet.ts';

/** The part of a fleet's methods that is used here. */
interface AskedFleet {
  /** The name of the fleet: `fleet HOST/DATABASE`. */
  readonly name: string;
  task(taskId: string): Promise<FleetTaskFacts | null>;
  close(): Promise<void>;
}

interface FleetWorld {
  readonly env: NodeJS.ProcessEnv;
  readonly open: (url: string) => Promise<AskedFleet>;
}

/** The modules for the database are loaded only if they are needed. */
const WORLD: FleetWorld = {
  env: process.env,
  async open(url) {
    const { openNamed } = await import('./on-fleet.ts');
    return openNamed(url, { patienceMs: 0 });
  },
};

/**
 * Carries out a command on a task of this machine. If the task is not here, but the fleet of `RALPH_FLEET` has it,
 * rejects with a `TaskNotFoundError` that says so, and how to fetch the result.
 */
export async function orOnFleet(
  {
    command,
    taskId,
    options,
  }: { command: string; taskId: string | undefined; options: FolderOptions },
  run: () => Promise<number>,
  { env, open }: FleetWorld = WORLD,
): Promise<number> {
  try {
    return await run();
  } catch (error) {
    // Inside a loop, no fleet is asked: commands on a fleet are for people.
    if (!(error instanceof TaskNotFoundError) || env.RALPH_RUN_ID || taskId === undefined) {
      throw error;
    }
    const url = fleetNamed(options, env);
    const found = url === null ? null : await findOn(url, taskId, open);
    if (found === null) throw error;
    const { stateDir } = foldersOf(options, env);
    const sentence = onlyOnFleetText({ command, stateDir, fleet: found.fleet }, found.facts);
    throw new TaskNotFoundError(taskId, stateDir, sentence);
  }
}

async function findOn(
  url: string,
  taskId: string,
  open: FleetWorld['open'],
): Promise<{ readonly fleet: string; readonly facts: FleetTaskFacts } | null> {
  try {
    const fleet = await open(url);
    const facts = await fleet.task(taskId).finally(() => fleet.close());
    return facts && { fleet: fleet.name, facts };
  } catch (error) {
    if (!(error instanceof FleetAwayError || error instanceof FleetError)) throw error;
    say(`${error.message} So it is unknown whether the fleet has '${taskId}'.`);
    return null;
  }
}

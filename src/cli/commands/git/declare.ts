import type { Command } from 'commander';
import { isRepeatable, SETTINGS } from '../../../core/settings/settings.ts';
import { fleetNamed } from '../../../fleet/cli/which-fleet.ts';
import { placeInFleet, taskCommand } from '../../../printed-command.ts';
import { TaskNotFoundError } from '../../../task-errors.ts';
import type { Does } from '../../flags/actions.ts';
import { placed, repeated } from '../../flags/shared-flags.ts';
import type { FolderOptions } from '../../tasks/named-folders.ts';

/** Wraps a command on a task of this machine. If there is no such task, but a fleet is named, the user is told of it. */
function orFleet<Words extends [taskId: string | undefined, ...unknown[]]>(
  command: string,
  run: (...words: Words) => Promise<number>,
): (...words: Words) => Promise<number> {
  return async (...words) => {
    try {
      return await run(...words);
    } catch (error) {
      const [taskId] = words;
      const options = words.at(-1) as FolderOptions;
      const isUnknown = error instanceof TaskNotFoundError && taskId !== undefined;
      const { env } = process;
      // An agent in a loop is told of no fleet, since commands on a fleet are for people.
      if (!isUnknown || env.RALPH_RUN_ID || fleetNamed(options, env) === null) throw error;
      const look = taskCommand('status', placeInFleet(taskId, []));
      const here = `ralph ${command} works on tasks of this machine alone.\nto look in the fleet: ${look}`;
      throw new TaskNotFoundError(taskId, '', `${error.sentence} ${here}`);
    }
  };
}

/** Declares the commands that work with git: they show snapshots and proofs, undo changes and land work. */
export function declareGitCommands(program: Command, does: Does): void {
  placed(program.command('diff'))
    .description('what iterations changed, as git diff shows it')
    .argument('[id]', 'the task (default: the newest)')
    .argument('[range]', 'N or N..M, both included (default: all since the start)')
    .option('--stat', 'only how much, file by file')
    .option('--json', 'the files as JSON')
    .action(does(async () => orFleet('diff', (await import('./diff.ts')).diff)));
  placed(program.command('snapshots'))
    .description('the snapshots of a task')
    .argument('[id]', 'the task (default: the newest)')
    .option('--json', 'as JSON')
    .action(does(async () => orFleet('snapshots', (await import('./snapshots.ts')).snapshots)));
  placed(program.command('proof'))
    .description('what a completed task has proven; or check it once more')
    .argument('[id]', 'the task (default: the newest); with --repo, the file of a proof')
    .option('--again', 'run the checks on that very tree, in a clean checkout')
    .option('--repo <DIR>', 'the repository that the proof in a file is about')
    .option('--json', 'as JSON, an in-toto statement')
    .option('--yes', 'run the commands of a file without asking')
    .action(does(async () => orFleet('proof', (await import('./proof.ts')).proof)));
  const judging = placed(program.command('judge'))
    .description('have an agent judge the final tree of a completed task; changes nothing')
    .argument('<id>', 'the task');
  for (const name of ['judge', 'judgeCommand', 'criterion', 'criteria', 'agentBin'] as const) {
    const { flag, argument = '', help } = SETTINGS[name];
    if (isRepeatable(SETTINGS[name])) judging.option(`${flag} <${argument}>`, help, repeated);
    else judging.option(`${flag} <${argument}>`, help);
  }
  judging
    .option('--json', 'as JSON')
    .action(does(async () => orFleet('judge', (await import('./judge.ts')).judge)));
  placed(program.command('undo'))
    .description('take back what an iteration and all after it changed')
    .argument('<id>', 'the task')
    .argument('[iteration]', 'the first one to take back (default: the last one)')
    .option('--redo', 'take back the newest undo that is not redone')
    .option('--force', 'also where somebody else has changed a file since')
    .option('--hard', 'also the branch and the index')
    .option('--yes', 'do not ask')
    .action(does(async () => orFleet('undo', (await import('./undo.ts')).undo)));
  placed(program.command('land'))
    .description("bring a task's work into a branch, checked once more")
    .argument('<id>', 'the task')
    .option('--onto <BRANCH>', 'the branch (default: the one the task began at)')
    .option('--merge', "as a merge of the task's own commits (default: as one commit)")
    .option('--patch <FILE>', 'as a file for git apply; no branch moves')
    .option('--continue-task', 'if the task can fix what hinders it, continue the task')
    .option('--yes', 'land even though the task is not completed')
    .action(does(async () => orFleet('land', (await import('./land.ts')).landCommand)));
}

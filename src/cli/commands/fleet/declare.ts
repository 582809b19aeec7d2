import { Argument, type Command } from 'commander';
import { FLEET_HELP, repeated } from '../../flags/shared-flags.ts';
import { declareSubmitFlags } from '../../flags/submit-help.ts';
import { FLEET_ACTS, type FleetAct } from '../../fleet/acts.ts';
import type { FleetCommandOptions } from './fleet.ts';
import type { WorkerFlags } from './worker.ts';

/** Declares the commands that only a fleet has. `ended` receives their exit codes. */
export function declareFleetCommands(program: Command, ended: (exitCode: number) => void): void {
  declareSubmitFlags(
    program
      .command('submit')
      .description('queue a task, or many, for the workers of a fleet')
      .usage('--repo URL --prompt TEXT [options] [-- agent options]'),
  );
  program
    .command('worker')
    .description('claim tasks of a fleet and work on them until told to stop')
    .option('--fleet <URL>', FLEET_HELP)
    .option('--slots <N>', 'how many tasks at once (default: 1)')
    .option(
      '--queue <NAME>',
      'a queue to take tasks from; may be repeated (default: default)',
      repeated,
    )
    .option('--id <NAME>', 'its name (default: host and process id)')
    .option(
      '--home <DIR>',
      'where its mirrors and work trees are (default: ralph-worker in XDG_STATE_HOME or ~/.local/state)',
    )
    .option(
      '--accounts <FILE>',
      'variables for the agents of each account; it takes these accounts alone',
    )
    .option('--policy <FILE>', 'what tasks may ask of it (default: see docs/fleet.md)')
    .option('--poll <TIME>', 'how often it looks for a task (default: 2s)')
    .option('--until-empty', 'end when nothing is left that it may claim now')
    .option(
      '--drain-timeout <TIME>',
      'how long running iterations may go on once it is told to stop (default: 30m)',
    )
    .option(
      '--keep-trees <WHICH>',
      'which work trees stay for a look: failed, all or none (default: failed)',
    )
    .action(async (options: WorkerFlags) => {
      const { worker } = await import('./worker.ts');
      ended(await worker(options));
    });
  program
    .command('fleet')
    .description('many machines, one queue: make it, look at it, pause an account')
    .usage('init|status|account [NAME] [options]')
    .addArgument(new Argument('<act>', 'what to do').choices(FLEET_ACTS))
    .argument('[name]', 'the account')
    .option('--fleet <URL>', FLEET_HELP)
    .option('--lease <TIME>', 'init: how long a claim holds without a beat (at first: 2m)')
    .option('--watch', 'status: keep it live')
    .option('--json', 'status: as JSON')
    .option('--pause [TIME]', 'account: pause it for this long, or until --resume')
    .option('--resume', 'account: end its pause; what waits for it goes on')
    .option('--slots <N>', 'account: at most this many tasks at once (0: unbounded)')
    .action(async (act: FleetAct, name: string | undefined, options: FleetCommandOptions) => {
      const { fleet } = await import('./fleet.ts');
      ended(await fleet(act, name, options));
    });
}

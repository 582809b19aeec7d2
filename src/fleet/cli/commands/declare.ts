import { Argument, type Command } from 'commander';
import type { Does } from '../../../cli/flags/actions.ts';
import { FLEET_HELP, repeated } from '../../../cli/flags/shared-flags.ts';
import { FLEET_ACTS } from '../acts.ts';
import { declareSubmitFlags } from '../submit/submit-help.ts';

/** Declares the commands that only a fleet has. `isNamed` says whether a command's flags have to be declared. */
export function declareFleetCommands(
  command: (name: string, ...examples: readonly string[]) => Command,
  does: Does,
  isNamed: (name: string) => boolean,
): void {
  const submit = command(
    'submit',
    'ralph submit --repo https://example.com/app.git -p "Fix the login"',
    'ralph submit --batch tasks.jsonl --dry-run',
  )
    .description('queue a task, or many, for the workers of a fleet')
    .usage('--repo URL "PROMPT" [options] [-- agent options]');
  if (isNamed('submit')) declareSubmitFlags(submit);
  command('worker', 'ralph worker --slots 4 --policy policy.yaml', 'ralph worker --until-empty')
    .description('claim tasks of a fleet and work on them until told to stop')
    .option('--fleet <URL>', FLEET_HELP)
    .option('--slots <N>', 'how many tasks at once (default: 1)')
    .option(
      '--queue <NAME>',
      'a queue to take tasks from; may be repeated (default: default)',
      repeated,
    )
    .option('--id <NAME>', 'name of this worker (default: host and process id)')
    .option(
      '--home <DIR>',
      'where its mirrors and work trees are (default: ralph-worker in XDG_STATE_HOME or ~/.local/state)',
    )
    .option(
      '--accounts <FILE>',
      "file with the agents' variables for each account; the worker then takes only these accounts",
    )
    .option(
      '--policy <FILE>',
      'file that limits what tasks may do (default: see docs/fleet-workers.md)',
    )
    .option('--poll <TIME>', 'how often it looks for a task (default: 2s)')
    .option('--until-empty', 'exit when there is no task left that it can claim now')
    .option(
      '--drain-timeout <TIME>',
      'how long running iterations may continue after a stop request (default: 30m)',
    )
    .option(
      '--keep-trees <WHICH>',
      'which work trees to keep for inspection: failed, all or none (default: failed)',
    )
    .option('--verbose', 'also say which claim of a task it has, and what it cleans up')
    .action(does(async () => (await import('./worker.ts')).worker));
  command(
    'fleet',
    'ralph fleet init --fleet postgres://ralph@db.example.org/fleet',
    'ralph fleet status --watch',
    'ralph fleet account work --pause 2h',
  )
    .description('set up a fleet, show its status, or pause an account')
    .usage('init|status|account [NAME] [options]')
    .addArgument(new Argument('<act>', 'what to do').choices(FLEET_ACTS))
    .argument('[name]', 'the account')
    .option('--fleet <URL>', FLEET_HELP)
    .option(
      '--lease <TIME>',
      'init: how long a task stays with a worker that sends no heartbeat (default at the first init: 2m)',
    )
    .option('--watch', 'status: refresh until interrupted')
    .option('--json', 'status: as JSON')
    .option('--pause [TIME]', 'account: pause it for this long, or until --resume')
    .option('--resume', 'account: end its pause; tasks that wait for it continue')
    .option('--slots <N>', 'account: at most this many tasks at once (0: unbounded)')
    .action(does(async () => (await import('./fleet.ts')).fleet));
}

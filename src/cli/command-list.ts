import { Argument, type Command } from 'commander';
import { isRepeatable, SETTINGS } from '../core/settings/settings.ts';
import { declareFleetCommands } from '../fleet/cli/commands/declare.ts';
import { orFleet } from './commands/git/or-fleet.ts';
import { completion, SHELLS } from './completion/scripts.ts';
import type { Does } from './flags/actions.ts';
import { declareSettings } from './flags/flags.ts';
import { declareVaultFlags } from './flags/rescue-help.ts';
import { declareResumeFlags } from './flags/resume-flags.ts';
import { inVaultOrFleet, placed, repeated } from './flags/shared-flags.ts';
import { declareWorkFlags } from './flags/work-help.ts';
import { examples } from './help-text.ts';

/**
 * Declares all commands, grouped and ordered as in the help, each with examples that run unchanged. `isNamed` says
 * whether the command line names a command. Commands that read their own arguments normally do not load this file:
 * their flags are declared only for their help, and only if the command line names them.
 */
export function declareCommands(
  program: Command,
  does: Does,
  isNamed: (name: string) => boolean,
): void {
  const command = (name: string, ...lines: readonly string[]): Command =>
    program.command(name).addHelpText('after', examples(lines));

  program.commandsGroup('Run a task:');
  const run = command(
    'run',
    'ralph run "Fix the failing tests" --verify "npm test" --edit',
    'ralph run --prompt-file plan.md --plan-file plan.md --edit',
    'ralph run "Write the report" --until "test -s report.md" --edit',
  )
    .description('run one task to its end')
    .usage('"PROMPT" [options] [-- agent options]');
  if (isNamed('run')) declareSettings(run);
  const resume = program
    .command('resume')
    .description('continue a task that is not completed')
    .usage('[ID] [options] [-- agent options]')
    .addHelpText('after', RESUME_HELP)
    .addHelpText(
      'after',
      examples(['ralph resume', 'ralph resume nightly --max-iterations +5 --timeout +30m']),
    );
  if (isNamed('resume')) declareResumeFlags(resume);
  command('demo', 'ralph demo')
    .description('the whole loop on a bundled stand-in agent: no account, no network')
    .action(does(async () => (await import('./commands/demo.ts')).demo));
  const work = command(
    'work',
    'ralph work prd.json --verify "npm test" --edit',
    'ralph work plan.md --dry-run',
    'ralph work github --label agent --verify "npm test" --edit',
  )
    .description('work through a list of tasks, and tick what is done')
    .usage('LIST|github|beads [options] [-- agent options]');
  if (isNamed('work')) declareWorkFlags(work);

  program.commandsGroup('Look at it:');
  inVaultOrFleet(
    command('status', 'ralph status', 'ralph status --watch', 'ralph status nightly --json'),
  )
    .description('what runs, waits and ended; or one task in detail')
    .argument('[id]', 'the task')
    .option('--watch', 'keep it live')
    .option('--all', 'all tasks that ended, not only the newest ten')
    .option('--json', 'as JSON')
    .action(does(async () => (await import('./commands/status.ts')).status));
  inVaultOrFleet(
    command('logs', 'ralph logs nightly --follow', 'ralph logs nightly --iteration 3 --raw'),
  )
    .description("an agent's output, readable")
    .argument('[id]', 'the task (default: the newest)')
    .option('--iteration <N>', 'only that iteration')
    .option('--raw', 'every byte as it came')
    .option('--follow', 'follow the loop as it runs')
    .action(does(async () => (await import('./commands/logs.ts')).logs));
  placed(command('diff', 'ralph diff nightly', 'ralph diff nightly 3..5 --stat'))
    .description('what iterations changed, as git diff shows it')
    .argument('[id]', 'the task (default: the newest)')
    .argument('[range]', 'N or N..M, both included (default: all since the start)')
    .option('--stat', 'only how much, file by file')
    .option('--json', 'the files as JSON')
    .action(does(async () => orFleet('diff', (await import('./commands/git/diff.ts')).diff)));
  placed(command('snapshots', 'ralph snapshots nightly'))
    .description('the snapshots of a task')
    .argument('[id]', 'the task (default: the newest)')
    .option('--json', 'as JSON')
    .action(
      does(async () =>
        orFleet('snapshots', (await import('./commands/git/snapshots.ts')).snapshots),
      ),
    );
  placed(
    command(
      'proof',
      'ralph proof nightly',
      'ralph proof nightly --again',
      'ralph proof proof.json --repo . --again',
    ),
  )
    .description('what a completed task has proven; or check it once more')
    .argument('[id]', 'the task (default: the newest); with --repo, the file of a proof')
    .option('--again', 'run the checks on that very tree, in a clean checkout')
    .option('--repo <DIR>', 'the repository that the proof in a file is about')
    .option('--json', 'as JSON, an in-toto statement')
    .option('--yes', 'run the commands of a file without asking')
    .action(does(async () => orFleet('proof', (await import('./commands/git/proof.ts')).proof)));
  const judging = placed(
    command(
      'judge',
      'ralph judge nightly --judge codex',
      'ralph judge nightly --judge codex --criterion "README names the flag"',
    ),
  )
    .description('have an agent judge the final tree of a completed task; changes nothing')
    .argument('<id>', 'the task');
  for (const name of ['judge', 'judgeCommand', 'criterion', 'criteria', 'agentBin'] as const) {
    const { flag, argument = '', help } = SETTINGS[name];
    if (isRepeatable(SETTINGS[name])) judging.option(`${flag} <${argument}>`, help, repeated);
    else judging.option(`${flag} <${argument}>`, help);
  }
  judging
    .option('--json', 'as JSON')
    .action(does(async () => orFleet('judge', (await import('./commands/git/judge.ts')).judge)));
  inVaultOrFleet(command('report', 'ralph report --since 24h', 'ralph report --html report.html'))
    .description('a briefing over a time span, what needs a person first')
    .option('--since <TIME>', 'how far back (default: 7d)')
    .option('--json', 'as JSON')
    .option('--markdown', 'as Markdown, which it is in a pipe')
    .option('--html <FILE>', 'as a page of its own')
    .action(does(async () => (await import('./commands/report.ts')).report));

  program.commandsGroup('Steer it:');
  inVaultOrFleet(command('stop', 'ralph stop nightly'))
    .description('end a running loop from another terminal; ralph resume continues')
    .argument('<id>', 'the task')
    .action(does(async () => (await import('./commands/stop.ts')).stopTask));
  inVaultOrFleet(command('pause', 'ralph pause nightly'))
    .description('pause after this iteration; ralph resume continues')
    .argument('<id>', 'the task')
    .action(does(async () => (await import('./commands/pause.ts')).pause));
  inVaultOrFleet(command('tell', 'ralph tell nightly "The parser is in src/parse.ts"'))
    .description('put a hint into the next prompt of a task')
    .argument('<id>', 'the task')
    .argument('<hint>', 'what the agent is told')
    .action(does(async () => (await import('./commands/tell.ts')).tell));
  inVaultOrFleet(command('approvals', 'ralph approvals'))
    .description('the approvals that wait for a person')
    .option('--json', 'as JSON')
    .action(does(async () => (await import('./commands/approvals.ts')).approvals));
  inVaultOrFleet(command('approve', 'ralph approve nightly'))
    .description('allow what a task asks for; it continues')
    .argument('<id>', "the task, or the request's file name")
    .option('--as <NAME>', 'who answers, on a fleet (default: user@host)')
    .action(does(async () => (await import('./commands/approvals.ts')).approve));
  inVaultOrFleet(command('reject', 'ralph reject nightly --reason "Not before Monday"'))
    .description('refuse what a task asks for; it continues, and is told why')
    .argument('<id>', "the task, or the request's file name")
    .option('--reason <TEXT>', 'why, for the agent')
    .option('--as <NAME>', 'who answers, on a fleet (default: user@host)')
    .action(does(async () => (await import('./commands/approvals.ts')).reject));
  placed(
    command(
      'undo',
      'ralph undo nightly',
      'ralph undo nightly 3 --yes',
      'ralph undo nightly --redo',
    ),
  )
    .description('take back what an iteration and all after it changed')
    .argument('<id>', 'the task')
    .argument('[iteration]', 'the first one to take back (default: the last one)')
    .option('--redo', 'take back the newest undo that is not redone')
    .option('--force', 'also where somebody else has changed a file since')
    .option('--hard', 'also the branch and the index')
    .option('--yes', 'do not ask')
    .action(does(async () => orFleet('undo', (await import('./commands/git/undo.ts')).undo)));
  placed(command('progress', 'ralph progress nightly --total 5 --done 2 --step "writing tests"'))
    .description('report progress from a script')
    .argument('[id]', 'the task (default: that of the loop it runs in)')
    .option('--total <N>', 'how many steps there are')
    .option('--done <N>', 'how many of them are done')
    .option('--step <TEXT>', 'what is done now')
    .action(does(async () => (await import('./commands/progress.ts')).progress));
  placed(command('land', 'ralph land fix-login', 'ralph land fix-login --patch fix-login.patch'))
    .description("bring a task's work into a branch, checked once more")
    .argument('<id>', 'the task')
    .option('--onto <BRANCH>', 'the branch (default: the one the task began at)')
    .option('--merge', "as a merge of the task's own commits (default: as one commit)")
    .option('--patch <FILE>', 'as a file for git apply; no branch moves')
    .option('--continue-task', 'if the task can fix what hinders it, continue the task')
    .option('--yes', 'land even though the task is not completed')
    .action(
      does(async () => orFleet('land', (await import('./commands/git/land.ts')).landCommand)),
    );
  placed(command('check', 'ralph check nightly', 'ralph check --hook'))
    .description('for stop hooks: exit 0 lets the agent stop, 1 makes it continue')
    .argument('[id]', 'the task (default: the only open one)')
    .option('--hook', "speak Claude Code's stop-hook JSON")
    .option('--trust', 'believe the named task though it was not written by you here')
    .action(does(async () => (await import('./commands/check.ts')).check));

  program.commandsGroup('Set up and clean up:');
  command('init', 'ralph init')
    .description(
      'a commented ralph.config.yaml, and outside of a project the folders of a vault; never overwrites',
    )
    .option('--vault <DIR>', 'where (default: here)')
    .option('--agent <KIND>', 'set this agent in the configuration')
    .action(does(async () => (await import('./commands/installation/init.ts')).init));
  placed(command('doctor', 'ralph doctor'))
    .description('check the installation')
    .option('--cwd <DIR>', 'the folder the agent works in (default: here)')
    .option('--config <FILE>', 'the configuration file')
    .option('--agent <KIND>', 'the agent to look for (default: that of the settings, or claude)')
    .option('--agent-bin <PATH>', 'its program; may be repeated for a list', repeated)
    .option('--agent-command <COMMAND>', 'the command of --agent command')
    .action(does(async () => (await import('./commands/installation/doctor.ts')).doctor));
  command('trust', 'ralph trust', 'ralph trust --revoke')
    .description('allow the ralph.config.yaml found here to run commands')
    .argument('[file]', 'the configuration (default: the one that is found from here)')
    .option('--revoke', 'take it back')
    .action(does(async () => (await import('./commands/installation/trust.ts')).trust));
  command('completion', 'ralph completion bash >> ~/.bashrc', 'ralph completion fish | source')
    .description('print the shell completion for bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(does(async () => completion));
  inVaultOrFleet(command('prune', 'ralph prune --older-than 30d --dry-run'))
    .description('clear the history')
    .option('--older-than <TIME>', 'what ended longer ago (default: 30d)')
    .option('--dry-run', 'only say what would go')
    .option('--keep-refs', 'on a fleet: leave refs/ralph/ID in the repositories')
    .action(does(async () => (await import('./commands/prune.ts')).prune));
  program.helpCommand('help [command]', 'print this help, or the help of one command');

  program.commandsGroup('Work through a vault:');
  const rescue = command('rescue', 'ralph rescue --vault ~/vault')
    .description('one pass over In_Progress: rescue what is stuck (for cron)')
    .usage('[options] [-- agent options]');
  if (isNamed('rescue')) declareVaultFlags(rescue, 'rescue');
  const watch = command('watch', 'ralph watch --vault ~/vault --start-new --concurrency 2')
    .description('rescue stuck tasks every 30s; --start-new also starts new files')
    .usage('[options] [-- agent options]');
  if (isNamed('watch')) declareVaultFlags(watch, 'watch');

  program.commandsGroup('Work with a fleet:');
  declareFleetCommands(command, does, isNamed);
}

const RESUME_HELP = `
A flag that is given overrides what the task was started with; all else is as
it was.
--max-iterations +5, --timeout +30m and --max-cost +2 add to what was used.`;

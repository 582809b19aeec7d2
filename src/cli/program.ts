import { Argument, Command } from 'commander';
import { declareFleetCommands } from '../fleet/cli/commands/declare.ts';
import { explainCommander, refuseUnknownHelp } from './command-mistakes.ts';
import { declareGitCommands } from './commands/git/declare.ts';
import { SHELLS, SUGGEST_COMMAND } from './completion/scripts.ts';
import { actions } from './flags/actions.ts';
import { declareSettings } from './flags/flags.ts';
import { declareVaultFlags } from './flags/rescue-help.ts';
import { declareResumeFlags } from './flags/resume-flags.ts';
import { inVaultOrFleet, placed, repeated } from './flags/shared-flags.ts';
import { declareWorkFlags } from './flags/work-help.ts';
import { arrangeHelp } from './help-text.ts';

declare const __RALPH_VERSION__: string;

/** Parses the command line and runs the command. Resolves to the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const does = actions((code) => {
    exitCode = code;
  });
  const program = new Command('ralph')
    .description(
      'Keeps running a coding agent on one task until the task is provably done, and never longer than it was told to.',
    )
    .version(__RALPH_VERSION__, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureHelp({ helpWidth: 80 })
    .configureOutput({ outputError: () => {} });

  program
    .command('demo')
    .description('the whole loop on a bundled stand-in agent: no account, no network')
    .action(does(async () => (await import('./commands/demo.ts')).demo));
  inVaultOrFleet(program.command('status'))
    .description('what runs, waits and ended; or one task in detail')
    .argument('[id]', 'the task')
    .option('--watch', 'keep it live')
    .option('--all', 'all tasks that ended, not only the newest ten')
    .option('--json', 'as JSON')
    .action(does(async () => (await import('./commands/status.ts')).status));
  inVaultOrFleet(program.command('logs'))
    .description("an agent's output, readable")
    .argument('[id]', 'the task (default: the newest)')
    .option('--iteration <N>', 'only that iteration')
    .option('--raw', 'every byte as it came')
    .option('--follow', 'follow the loop as it runs')
    .action(does(async () => (await import('./commands/logs.ts')).logs));
  declareGitCommands(program, does);
  inVaultOrFleet(program.command('stop'))
    .description('end a running loop from another terminal; ralph resume continues')
    .argument('<id>', 'the task')
    .action(does(async () => (await import('./commands/stop.ts')).stopTask));
  inVaultOrFleet(program.command('pause'))
    .description('pause after this iteration; ralph resume continues')
    .argument('<id>', 'the task')
    .action(does(async () => (await import('./commands/pause.ts')).pause));
  inVaultOrFleet(program.command('tell'))
    .description('put a hint into the next prompt of a task')
    .argument('<id>', 'the task')
    .argument('<hint>', 'what the agent is told')
    .action(does(async () => (await import('./commands/tell.ts')).tell));
  inVaultOrFleet(program.command('approvals'))
    .description('the approvals that wait for a person')
    .option('--json', 'as JSON')
    .action(does(async () => (await import('./commands/approvals.ts')).approvals));
  inVaultOrFleet(program.command('approve'))
    .description('allow what a task asks for; it continues')
    .argument('<id>', "the task, or the request's file name")
    .option('--as <NAME>', 'who answers, on a fleet (default: user@host)')
    .action(does(async () => (await import('./commands/approvals.ts')).approve));
  inVaultOrFleet(program.command('reject'))
    .description('refuse what a task asks for; it continues, and is told why')
    .argument('<id>', "the task, or the request's file name")
    .option('--reason <TEXT>', 'why, for the agent')
    .option('--as <NAME>', 'who answers, on a fleet (default: user@host)')
    .action(does(async () => (await import('./commands/approvals.ts')).reject));
  placed(program.command('check'))
    .description('for stop hooks: exit 0 lets the agent stop, 1 makes it continue')
    .argument('[id]', 'the task (default: the only open one)')
    .option('--hook', "speak Claude Code's stop-hook JSON")
    .option('--trust', 'believe the named task though it was not written by you here')
    .action(does(async () => (await import('./commands/check.ts')).check));
  placed(program.command('progress'))
    .description('report progress from a script')
    .argument('[id]', 'the task (default: that of the loop it runs in)')
    .option('--total <N>', 'how many steps there are')
    .option('--done <N>', 'how many of them are done')
    .option('--step <TEXT>', 'what is done now')
    .action(does(async () => (await import('./commands/progress.ts')).progress));
  inVaultOrFleet(program.command('report'))
    .description('a briefing over a time span, what needs a person first')
    .option('--since <TIME>', 'how far back (default: 7d)')
    .option('--json', 'as JSON')
    .option('--markdown', 'as Markdown, which it is in a pipe')
    .option('--html <FILE>', 'as a page of its own')
    .action(does(async () => (await import('./commands/report.ts')).report));
  inVaultOrFleet(program.command('prune'))
    .description('clear the history')
    .option('--older-than <TIME>', 'what ended longer ago (default: 30d)')
    .option('--dry-run', 'only say what would go')
    .option('--keep-refs', 'on a fleet: leave refs/ralph/ID in the repositories')
    .action(does(async () => (await import('./commands/prune.ts')).prune));
  placed(program.command('doctor'))
    .description('check the installation')
    .option('--cwd <DIR>', 'the folder the agent works in (default: here)')
    .option('--config <FILE>', 'the configuration file')
    .option('--agent <KIND>', 'the agent to look for (default: that of the settings, or claude)')
    .option('--agent-bin <PATH>', 'its program; may be repeated for a list', repeated)
    .option('--agent-command <COMMAND>', 'the command of --agent command')
    .action(does(async () => (await import('./commands/installation/doctor.ts')).doctor));
  program
    .command('init')
    .description(
      'a commented ralph.config.yaml, and outside of a project the folders of a vault; never overwrites',
    )
    .option('--vault <DIR>', 'where (default: here)')
    .option('--agent <KIND>', 'set this agent in the configuration')
    .action(does(async () => (await import('./commands/installation/init.ts')).init));
  program
    .command('trust')
    .description('allow the ralph.config.yaml found here to run commands')
    .argument('[file]', 'the configuration (default: the one that is found from here)')
    .option('--revoke', 'take it back')
    .action(does(async () => (await import('./commands/installation/trust.ts')).trust));
  program
    .command('completion')
    .description('print the shell completion for bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(does(async () => (await import('./completion/scripts.ts')).completion));
  // The next commands read their own arguments, so that all mistakes are reported together, and normally do not load
  // this file. They are declared here only for their help, and their flags only if the command line names them.
  const isNamed = (name: string): boolean => argv.includes(name);
  const run = program
    .command('run')
    .description('run one task to its end')
    .usage('"PROMPT" [options] [-- agent options]');
  if (isNamed('run')) declareSettings(run);
  const resume = program
    .command('resume')
    .description('continue a task that is not completed')
    .usage('[ID] [options] [-- agent options]')
    .addHelpText('after', RESUME_HELP);
  if (isNamed('resume')) declareResumeFlags(resume);
  const work = program
    .command('work')
    .description('work through a list of tasks, and tick what is done')
    .usage('LIST|github|beads [options] [-- agent options]');
  if (isNamed('work')) declareWorkFlags(work);
  const rescue = program
    .command('rescue')
    .description('one pass over In_Progress: rescue what is stuck (for cron)')
    .usage('[options] [-- agent options]');
  if (isNamed('rescue')) declareVaultFlags(rescue, 'rescue');
  const watch = program
    .command('watch')
    .description('rescue stuck tasks every 30s; --start-new also starts new files')
    .usage('[options] [-- agent options]');
  if (isNamed('watch')) declareVaultFlags(watch, 'watch');
  declareFleetCommands(program, does, isNamed);
  arrangeHelp(program);
  if (argv[0] === SUGGEST_COMMAND) {
    return (await import('./commands/installation/suggest.ts')).suggest(program, argv.slice(1));
  }
  refuseUnknownHelp(program, argv);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    return explainCommander(error, program, argv);
  }
  return exitCode;
}

const RESUME_HELP = `
A flag that is given overrides what the task was started with; all else is as
it was.
--max-iterations +5, --timeout +30m and --max-cost +2 add to what was used.`;

// What `-h` prints: the commands and flags that people use first, on one screen. `--help` prints all.

import { AGENT_NAMES } from '../core/agent/agents/agents.ts';

const COMMANDS = `Usage: ralph COMMAND [options]

Keeps running a coding agent on one task until the task is provably done.

Run a task:
  run "PROMPT"   run one task to its end
  resume [id]    continue a task that is not completed
  demo           see it work: no account, no network

Look at it:
  status [id]    what runs, waits and ended; or one task in detail
  logs [id]      what the agent did and said
  diff [id]      what the task has changed
  report         what happened, and what needs a person

Steer it:
  stop ID        end a running task; resume continues it
  undo ID        take back what the last iteration changed

Set up:
  doctor         check the installation

Example:
  ralph run "Make the failing tests pass" --verify "npm test" --edit

An id may be its first characters, or "last".
ralph --help lists all commands, ralph COMMAND --help the flags of one.
`;

const RUN = `Usage: ralph run "PROMPT" [options] [-- agent options]

Runs an agent again and again until the task is complete, and its checks pass.

The task:
  --prompt-file FILE        take the prompt from a file
  --task-type TYPE          limits for this kind of task, such as coding
  --agent KIND              ${AGENT_NAMES.filter((name) => name !== 'command').join(', ')}
  --model NAME              the model of the agent

When it is complete:
  --verify COMMAND          a check that has to pass; may be repeated
  --until COMMAND           complete as soon as this command passes
  --plan-file FILE          complete when every box in this file is ticked

What the agent may do:
  --edit                    edit files, and run the commands of the checks
  --allowed-tools TOOLS     use these tools unasked, too
  --sandbox                 keep it in its folder, away from secrets and hosts
  --worktree                work in a git work tree of its own

Limits:
  -n, --max-iterations N    how often the agent is started
  --timeout TIME            for the whole task, such as 2h
  --max-cost USD            for the whole task

How it runs:
  --dry-run                 show what would be done, and do nothing
  --detach                  run in the background
  --quiet                   print nothing unless it ends badly

Example:
  ralph run "Make the failing tests pass" --verify "npm test" --edit

ralph run --help lists all flags.
`;

/** Returns the short help if a command line asks for it with `-h`; null otherwise. */
export function shortHelp(argv: readonly string[]): string | null {
  const [name, ...words] = argv;
  if (name === '-h') return COMMANDS;
  return name === 'run' && words.includes('-h') ? RUN : null;
}

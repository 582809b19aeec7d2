import { AGENT_NAMES, type AgentName } from '../agent/agents/agents.ts';

/** Returns a new configuration: what people change first, as comments. Only `agent` is set, if agents are given. */
export function configTemplate(
  testCommand: string,
  agents: readonly AgentName[] | null = null,
): string {
  const agent = agents === null ? '# agent: claude' : `agent: ${agents.join(',')}`;
  return `# Settings of ralph for this folder. Remove the "# " before a line to set it.
# "ralph run --help" lists all; the key of --task-type is task_type. A flag
# overrides this file, and "ralph run --dry-run" shows what is in force.
# What runs commands or gives permissions counts only after "ralph trust", and
# only until this file changes. Who can write this file can run commands.

# The agent, or several: ${AGENT_NAMES.join(', ')}.
${agent}

# What has to pass before a task counts as complete.
# verify: ["${testCommand}"]

# Whether the agent may edit files and run the commands of verify.
# edit: true

# How often the agent is started, for how long, and for how many US dollars.
# max_iterations: 10
# timeout: 2h
# max_cost: 5

# Files that the agent must not change.
# protect: ["test/**"]

# Whether each task works in a git work tree of its own, and commits.
# worktree: true
# commit: true

# Whether the agent is kept in its folder, away from secrets and other hosts.
# sandbox: true
`;
}

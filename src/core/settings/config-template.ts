import { AGENT_NAMES, type AgentName } from '../agent/agents/agents.ts';
import {
  choicesOf,
  isRepeatable,
  keyOf,
  SETTINGS,
  type SettingName,
  settingNames,
} from './settings.ts';
import { TASK_TYPES } from './task-type.ts';

const HEAD = `# Settings of ralph for this folder and those below it. Every line is a comment:
# remove the "# " before a setting to set it. A flag or a RALPH_* variable overrides this file, and
# "ralph run --dry-run" shows each value in force and its source.
# Settings that run commands, set permissions or choose folders count only after "ralph trust", and
# only until this file changes. Anyone who can write this file can run commands: keep it private.
`;

const TYPES_HEAD = `
# ---- Task types ----

# Named limits for --task-type. These are built in; you can add others.
# task_types:
`;

/** Settings that make sense for a single run only. */
const OF_ONE_RUN: readonly SettingName[] = ['prompt', 'dryRun', 'json'];

/**
 * Returns a configuration file that shows every setting as a comment, made from the table of settings. Only `agent`
 * is set, and only if agents are given.
 */
export function configTemplate(agents: readonly AgentName[] | null = null): string {
  let text = HEAD;
  let group = '';
  for (const name of settingNames()) {
    const key = keyOf(name);
    if (key === null || OF_ONE_RUN.includes(name)) continue;
    const row = SETTINGS[name];
    if (row.group !== group) text += `\n# ---- ${row.group} ----\n`;
    group = row.group;
    const words = choicesOf(row).join(', ');
    const choices = words === '' ? '' : ` (${words})`;
    const line = name === 'agent' && agents !== null ? agents.join(',') : null;
    text += `\n${wrapped(`${row.help}${choices}`)}`;
    text += line === null ? `# ${key}: ${exampleOf(name)}\n` : `${key}: ${line}\n`;
  }
  return text + TYPES_HEAD + Object.keys(TASK_TYPES).map(typeLines).join('');
}

/** Returns an example value for a setting: its default, `true` for a switch, or else the placeholder from the help. */
function exampleOf(name: SettingName): string {
  const { type, argument = 'TEXT', default: fallback } = SETTINGS[name];
  if (fallback !== undefined) return fallback;
  if (type.kind === 'switch') return 'true';
  return isRepeatable(SETTINGS[name]) ? `[${argument}]` : argument;
}

function typeLines(type: string): string {
  const { maxIterations, iterationTimeout, ...others } = TASK_TYPES[type] ?? {};
  const limits = { max_iterations: maxIterations, iteration_timeout: iterationTimeout, ...others };
  const lines = Object.entries(limits).flatMap(([key, limit]) =>
    limit === undefined ? [] : [`#     ${key}: ${limit}\n`],
  );
  return `#   ${type}:\n${lines.join('')}`;
}

/** Wraps a sentence into lines with "##", which stay comments if a "#" is removed from every line. */
function wrapped(sentence: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + word.length > 92) {
      lines.push(line);
      line = '';
    }
    line += `${line === '' ? '' : ' '}${word}`;
  }
  return [...lines, line].map((each) => `## ${each}\n`).join('');
}

/**
 * Returns the short configuration of a project: the settings that people change first, as comments, with the
 * project's test command. Only `agent` is set, and only if agents are given.
 */
export function projectTemplate(
  testCommand: string,
  agents: readonly AgentName[] | null = null,
): string {
  const agent = agents === null ? '# agent: claude' : `agent: ${agents.join(',')}`;
  return `# Settings of ralph for this project. Remove the "# " before a line to set it.
# A flag overrides this file; "ralph run --dry-run" shows what is in force.
# What runs commands or gives permissions counts only after "ralph trust", and
# only until this file changes.

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

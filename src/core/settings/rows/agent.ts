import { AGENT_NAMES, AGENTS, DEFAULT_AGENT } from '../../agent/agents/agents.ts';
import type { SettingRow } from './setting-row.ts';

/** Which agent works, and what it may do. */
export const AGENT_ROWS = {
  agent: {
    flag: '--agent',
    argument: 'KIND',
    type: { kind: 'choices', choices: AGENT_NAMES },
    group: 'Agent',
    default: DEFAULT_AGENT,
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: `${AGENT_NAMES.slice(0, -1)
      .map((name) => AGENTS[name].help)
      .join(
        ', ',
      )}, or ${AGENTS.command.help}; or a list such as claude,codex: the next one takes over while one is at its limit or out of order`,
  },
  agentBin: {
    flag: '--agent-bin',
    aliases: ['--claude-bin'],
    argument: 'PATH',
    type: { kind: 'agent-texts' },
    group: 'Agent',
    fleet: { not: 'it is a program of this machine, and a worker finds its own on its PATH' },
    ...{ trust: true, resume: 'changes', rescue: 'program', batch: 'no' },
    help: 'the program of the agent (default: its name on PATH or where its installers put it); AGENT=PATH for one of a list, may be repeated',
  },
  agentCommand: {
    flag: '--agent-command',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Agent',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program', batch: 'line' },
    help: 'the command of --agent command, split into words as a shell does; no shell runs it',
  },
  model: {
    flag: '--model',
    argument: 'NAME',
    type: { kind: 'agent-texts' },
    group: 'Agent',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'the model, as the agent names it (opencode: provider/model); AGENT=NAME for one of a list, may be repeated',
  },
  permissionMode: {
    flag: '--permission-mode',
    argument: 'MODE',
    type: { kind: 'text' },
    group: 'Agent',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission', batch: 'line' },
    help: 'acceptEdits or plan for every agent that has them, or a word of the agent itself (codex: workspace-write)',
  },
  allowedTools: {
    flag: '--allowed-tools',
    argument: 'TOOLS',
    type: { kind: 'texts' },
    group: 'Agent',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission', batch: 'line' },
    help: 'handed to the agent: tools it may use unasked, such as "Edit,Bash(npm test:*)"; may be repeated',
  },
  dangerouslySkipPermissions: {
    flag: '--dangerously-skip-permissions',
    type: { kind: 'switch' },
    group: 'Agent',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission', batch: 'line' },
    help: 'handed to the agent: no permission is asked for anything',
  },
  session: {
    flag: '--session',
    argument: 'HOW',
    type: { kind: 'choice', choices: ['fresh', 'continue'] },
    group: 'Agent',
    default: 'fresh',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'whether each iteration starts a new session of the agent or resumes the last one',
  },
  context: {
    flag: '--context',
    argument: 'WHAT',
    type: { kind: 'choice', choices: ['last', 'none'] },
    group: 'Agent',
    default: 'last',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'what of the previous output goes into the next prompt',
  },
  contextChars: {
    flag: '--context-chars',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Agent',
    default: '20000',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'how many characters at the end of that output; all hints together have the same limit',
  },
  keepBackground: {
    flag: '--keep-background',
    type: { kind: 'switch' },
    group: 'Agent',
    fleet: { not: 'a worker ends all that a task has started' },
    ...{ trust: true, resume: 'changes', rescue: 'permission', batch: 'no' },
    help: 'leave background processes of the agent running at the end',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

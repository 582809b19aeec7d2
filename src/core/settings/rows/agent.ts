import { AGENT_NAMES, DEFAULT_AGENT } from '../../agent/agents/agents.ts';
import type { WrittenRow } from './setting-row.ts';

/** The settings that say which agent works, and what it may do. */
export const AGENT_ROWS = {
  agent: {
    argument: 'KIND',
    type: { kind: 'choices', choices: AGENT_NAMES },
    default: DEFAULT_AGENT,
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: `${AGENT_NAMES.slice(0, -1).join(', ')}, or any command that reads the prompt on standard input; or a list such as claude,codex: the next one takes over while one is at its limit or out of order`,
  },
  agentBin: {
    aliases: ['--claude-bin'],
    argument: 'PATH',
    type: { kind: 'agent-texts', ofPrograms: true },
    fleet: { not: 'it is a program of this machine, and a worker finds its own on its PATH' },
    ...{ trust: true, resume: 'changes', rescue: 'program' },
    help: 'the program of the agent (default: its name on PATH or where its installers put it); AGENT=PATH for one of a list, may be repeated',
  },
  agentCommand: {
    type: { kind: 'command', isSplit: true },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'the command of --agent command, split into words as a shell does; no shell runs it',
  },
  model: {
    argument: 'NAME',
    type: { kind: 'agent-texts' },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'the model, as the agent names it (opencode: provider/model); AGENT=NAME for one of a list, may be repeated',
  },
  edit: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission' },
    help: 'the agent may edit files in the work folder and run the commands of --verify and --until',
  },
  permissionMode: {
    argument: 'MODE',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission' },
    help: 'acceptEdits or plan for every agent that has them, or a word of the agent itself (codex: workspace-write)',
  },
  allowedTools: {
    argument: 'TOOLS',
    type: { kind: 'texts' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission' },
    help: 'handed to the agent: tools it may use unasked, such as "Edit,Bash(npm test:*)"; may be repeated',
  },
  dangerouslySkipPermissions: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission' },
    help: 'handed to the agent: no permission is asked for anything',
  },
  session: {
    argument: 'HOW',
    type: { kind: 'choice', choices: ['fresh', 'continue'] },
    default: 'fresh',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'whether each iteration starts a new session of the agent or resumes the last one',
  },
  context: {
    argument: 'WHAT',
    type: { kind: 'choice', choices: ['last', 'none'] },
    default: 'last',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'what of the previous output goes into the next prompt',
  },
  contextChars: {
    type: { kind: 'count', min: 1 },
    default: '20000',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how many characters at the end of that output; all hints together have the same limit',
  },
  keepBackground: {
    type: { kind: 'switch' },
    fleet: { not: 'a worker ends all that a task has started' },
    ...{ trust: true, resume: 'changes', rescue: 'permission' },
    help: 'leave background processes of the agent running at the end',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

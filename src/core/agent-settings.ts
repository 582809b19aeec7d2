import type { SettingRow } from './settings.ts';

/** Which agent works, and what it may do. */
export const AGENT_ROWS = {
  agent: {
    flag: '--agent',
    argument: 'KIND',
    type: { kind: 'choice', choices: ['claude', 'command'] },
    group: 'Agent',
    default: 'claude',
    help: 'claude, or any command that reads the prompt on standard input',
  },
  agentCommand: {
    flag: '--agent-command',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'the command of --agent command, split into words as a shell does; no shell runs it',
  },
  claudeBin: {
    flag: '--claude-bin',
    argument: 'PATH',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'the claude program (default: claude on PATH or where its installers put it)',
  },
  model: {
    flag: '--model',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'handed to claude as its --model',
  },
  permissionMode: {
    flag: '--permission-mode',
    argument: 'MODE',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'handed to claude: acceptEdits, plan, bypassPermissions, …',
  },
  allowedTools: {
    flag: '--allowed-tools',
    argument: 'TOOLS',
    type: { kind: 'texts' },
    group: 'Agent',
    help: 'handed to claude: tools it may use unasked, such as "Edit,Bash(npm test:*)"; may be repeated',
  },
  dangerouslySkipPermissions: {
    flag: '--dangerously-skip-permissions',
    type: { kind: 'switch' },
    group: 'Agent',
    help: 'handed to claude: no permission is asked for anything',
  },
  session: {
    flag: '--session',
    argument: 'HOW',
    type: { kind: 'choice', choices: ['fresh', 'continue'] },
    group: 'Agent',
    default: 'fresh',
    help: "whether each iteration begins afresh or resumes claude's own session",
  },
  context: {
    flag: '--context',
    argument: 'WHAT',
    type: { kind: 'choice', choices: ['last', 'none'] },
    group: 'Agent',
    default: 'last',
    help: 'what of the previous output goes into the next prompt',
  },
  contextChars: {
    flag: '--context-chars',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Agent',
    default: '20000',
    help: 'how many characters of it at most, its end; as many of all hints together',
  },
  keepBackground: {
    flag: '--keep-background',
    type: { kind: 'switch' },
    group: 'Agent',
    help: 'leave running at the end what the agent started in the background',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

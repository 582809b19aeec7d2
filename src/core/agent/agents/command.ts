import type { Agent } from '../agent.ts';
import { readCommandLimit } from './command-limit.ts';

/** Any program: it gets the prompt on standard input, and its standard output is the final message. */
export const command: Agent = {
  help: 'any command that reads the prompt on standard input',
  takes: ['agentCommand'],
  ownFlags: [],
  budgetFlag: null,
  expandsAtPaths: false,
  reportsTools: false,
  requiresReport: false,
  nestingVariables: [],
  versionVariables: null,
  permissionsNotice: null,
  installRemedy: 'correct --agent-command, or add the folder of the program to PATH',
  remedies: {
    'agent-not-found': 'install the program, or name another with --agent-command',
  },
  readReport: () => null,
  isTooLong: () => false,
  readLastWords(facts, at, { timeZone }) {
    const limit = readCommandLimit(facts, at, timeZone);
    return limit === null ? null : { kind: 'usage-limited', ...limit };
  },
};

import { oneLine, withoutControls } from '../../text/untrusted-text.ts';
import type { Agent } from '../agent.ts';
import { readCommandFailure } from '../command-words.ts';

/** Any program. It gets the prompt on standard input, and its standard output is the final message. */
export const command: Agent = {
  takes: ['agentCommand'],
  ownFlags: [],
  budgetFlag: null,
  expandsAtPaths: false,
  tells: [],
  requiresReport: false,
  nestingVariables: [],
  versionVariables: null,
  permissionsNotice: null,
  readOnlyModes: [],
  promptLimit: null,
  judging: { instructedBy: [], args: [], schema: null },
  sandbox: {
    hosts: [],
    addressVariables: [],
    loginVariables: [],
    folders: [],
    fixed: [],
    inTree: [],
    state: null,
    loginFiles: [],
  },
  installRemedy: 'correct --agent-command, or add the folder of the program to PATH',
  remedies: {
    'agent-not-found': 'install the program, or name another with --agent-command',
    'bad-option': 'correct the options in --agent-command',
  },
  wordings: [],
  exitCodes: {},
  readLastWords(facts) {
    const told = readCommandFailure(facts);
    if (told !== null) return told;
    // If the command has printed a message, the usage text is from another program that the command ran.
    const isUsage =
      facts.end.kind === 'exited' && facts.end.exitCode === 2 && facts.finalMessage === null;
    const words = withoutControls(facts.stderrTail);
    return isUsage && USAGE_TEXT.test(words)
      ? { means: 'bad-option', words: wrongOption(words) }
      : null;
  },
};

/** By convention, a program exits with code 2 and prints its usage if it does not accept its arguments. */
const USAGE_TEXT = /^\s*usage: ?\S/im;
const WRONG_OPTION = /^.*\b(unexpected|unknown|unrecogni[sz]ed|invalid|illegal) .*$/im;

function wrongOption(words: string): string {
  const line = WRONG_OPTION.exec(words)?.[0] ?? words.trim().split('\n')[0] ?? '';
  return oneLine(line, 300);
}

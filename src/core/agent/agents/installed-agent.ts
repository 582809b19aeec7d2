import type { Agent, AgentSetting } from '../agent.ts';

/** All settings that an agent from npm can support. */
const SETTINGS: readonly AgentSetting[] = [
  'agentBin',
  'model',
  'permissionMode',
  'allowedTools',
  'edit',
  'dangerouslySkipPermissions',
  'maxCost',
  'maxCostPerDay',
  'maxUsage',
  'session',
  'acceptRefused',
  'askBack',
];

/** The settings that only some agents from npm support. */
const OF_SOME: readonly AgentSetting[] = ['allowedTools', 'maxCost', 'maxCostPerDay', 'maxUsage'];

/** Values that most agents from npm share, so a row may leave them out. */
const USUAL = {
  budgetFlag: null,
  expandsAtPaths: false,
  requiresReport: true,
  nestingVariables: [],
  versionVariables: {},
  readOnlyModes: [],
  promptLimit: null,
  exitCodes: {},
} satisfies Partial<Agent>;

const USUAL_IN_SANDBOX = {
  addressVariables: [],
  state: null,
  loginFiles: [],
} satisfies Partial<Agent['sandbox']>;

/** `Whole`, in which the properties of `Usual` are optional. */
type But<Whole, Usual> = Omit<Whole, keyof Usual> & Partial<Pick<Whole, keyof Usual & keyof Whole>>;

interface AgentRow extends Omit<But<Agent, typeof USUAL>, 'takes' | 'installRemedy' | 'sandbox'> {
  readonly name: string;
  /** What people call the agent, if that differs from `name`. */
  readonly title?: string;
  /** The agent's package on npm. */
  readonly package: string;
  /** The settings of `OF_SOME` that the agent supports. */
  readonly further?: readonly AgentSetting[];
  readonly sandbox: But<Agent['sandbox'], typeof USUAL_IN_SANDBOX>;
}

/** Returns the description of an agent that people install from npm. */
export function installedAgent(row: AgentRow): Agent {
  const { name, title = name, package: from, further = [], sandbox, remedies, ...own } = row;
  const install = `(npm install -g ${from})`;
  return {
    ...USUAL,
    ...own,
    takes: SETTINGS.filter((each) => !OF_SOME.includes(each) || further.includes(each)),
    sandbox: { ...USUAL_IN_SANDBOX, ...sandbox },
    installRemedy: `install ${title} ${install}, or name the program with --agent-bin PATH`,
    remedies: {
      'agent-not-found': `install it ${install}, or name it with --agent-bin`,
      'bad-option': `remove the option, or update ${name}`,
      ...remedies,
    },
  };
}

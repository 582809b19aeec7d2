import type { Agent, AgentSetting } from '../agent.ts';

/** Every setting that such an agent can take. */
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

/** Those that only some take. */
const OF_SOME: readonly AgentSetting[] = ['allowedTools', 'maxCost', 'maxCostPerDay', 'maxUsage'];

/** What most of these agents have in common. */
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

/** `Whole` without what is usual, which may be left out. */
type But<Whole, Usual> = Omit<Whole, keyof Usual> & Partial<Pick<Whole, keyof Usual & keyof Whole>>;

interface AgentRow extends Omit<But<Agent, typeof USUAL>, 'takes' | 'installRemedy' | 'sandbox'> {
  readonly name: string;
  /** What people call it, if that is not its name. */
  readonly title?: string;
  /** Its package on npm. */
  readonly package: string;
  /** The settings that it takes besides those of all. */
  readonly further?: readonly AgentSetting[];
  readonly sandbox: But<Agent['sandbox'], typeof USUAL_IN_SANDBOX>;
}

/** Returns what is known of an agent that people install from npm. */
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

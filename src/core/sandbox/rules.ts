/**
 * One rule with where it came from: `default`, or the source of a setting (`--allow-write`,
 * `RALPH_ALLOW_WRITE`, `ralph.config.json`).
 */
export interface SandboxRule {
  readonly value: string;
  readonly from: string;
}

/** What the sandbox allows and denies: absolute paths, hosts, names of variables. */
export interface SandboxRules {
  readonly allowWrite: readonly SandboxRule[];
  /** Always denied, whatever is allowed. A path need not exist: then its birth is looked for. */
  readonly denyWrite: readonly SandboxRule[];
  readonly denyRead: readonly SandboxRule[];
  readonly allowRead: readonly SandboxRule[];
  /** The home whose entries with a dot are hidden, but for what is allowed; null for none. */
  readonly hiddenHome: string | null;
  /** `HOST`, `HOST:PORT` or `*.HOST`. Those by default are the agent's own, and no check has them. */
  readonly allowNet: readonly SandboxRule[];
  /** Variables that are kept although their names or values are like those of secrets. */
  readonly keepEnv: readonly SandboxRule[];
  /** Variables that are dropped, by name; their values are nowhere in the rules. */
  readonly dropEnv: readonly SandboxRule[];
  readonly unixSockets: boolean;
  readonly checksInside: boolean;
  /** What only the agent has, and no check: the paths with its login, and the variables. */
  readonly ofAgent: { readonly places: readonly string[]; readonly variables: readonly string[] };
}

/** What the user asked for beyond the defaults, with absolute paths. */
export type AskedRules = Pick<
  SandboxRules,
  'allowWrite' | 'denyRead' | 'allowRead' | 'allowNet' | 'keepEnv' | 'unixSockets' | 'checksInside'
>;

/** The source of what nobody asked for. */
export const BY_DEFAULT = 'default';

/** Why a sandbox is refused. */
export type SandboxRefusal =
  | 'platform'
  | 'root'
  | 'tools-missing'
  | 'package-missing'
  | 'not-started'
  | 'does-not-hold'
  | 'ralph-inside'
  | 'too-wide'
  | 'wrong-path';

/** One rule and its origin: `default`, or a setting's source (`--allow-write`, `RALPH_ALLOW_WRITE`, a file's name). */
export interface SandboxRule {
  readonly value: string;
  readonly from: string;
}

/** What the sandbox allows and denies, as absolute paths, hosts and names of variables. */
export interface SandboxRules {
  readonly allowWrite: readonly SandboxRule[];
  /** Always denied, even inside allowed folders. If a path does not exist yet, ralph watches for its creation. */
  readonly denyWrite: readonly SandboxRule[];
  readonly denyRead: readonly SandboxRule[];
  readonly allowRead: readonly SandboxRule[];
  /** The home folder in which entries that begin with a dot are hidden unless allowed; null if none are hidden. */
  readonly hiddenHome: string | null;
  /** `HOST`, `HOST:PORT` or `*.HOST`. The default hosts are for the agent only, and not for checks. */
  readonly allowNet: readonly SandboxRule[];
  /** Variables that are kept although their names or values look like those of secrets. */
  readonly keepEnv: readonly SandboxRule[];
  /** The names of variables that are dropped. The rules never contain values of variables. */
  readonly dropEnv: readonly SandboxRule[];
  readonly unixSockets: boolean;
  readonly checksInside: boolean;
  /** What only the agent gets, and checks do not: the paths and the variables with its login. */
  readonly ofAgent: { readonly places: readonly string[]; readonly variables: readonly string[] };
}

/** What the user asked for beyond the defaults, with absolute paths. */
export type AskedRules = Pick<
  SandboxRules,
  'allowWrite' | 'denyRead' | 'allowRead' | 'allowNet' | 'keepEnv' | 'unixSockets' | 'checksInside'
>;

/** The origin of a rule for which the user did not ask. */
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

import type { UntrustedConfig } from './trust.ts';

/** What `ralph doctor` found out, before it is judged. */
export interface DoctorFacts {
  /** What keeps every run from starting: bad settings, a folder that is none. */
  readonly problems: readonly string[];
  /** What every run would say at its start. */
  readonly notices: readonly string[];
  /** A found configuration that a run would refuse, since nobody has trusted it; null where there is none. */
  readonly untrusted:
    | (UntrustedConfig & {
        /** The agent that it names, which is not started; null where it names none. */
        readonly program: string | null;
      })
    | null;
  /** Null where an untrusted configuration says which it is. */
  readonly agent: AgentFacts | null;
  readonly vault: string;
  readonly vaultProbe: FolderFacts;
  readonly stateDir: string;
  readonly stateProbe: FolderFacts;
  /** Folders of the vault that are links leading out of it. */
  readonly strayFolders: readonly string[];
  /** Null where it cannot be told. */
  readonly freeBytes: number | null;
  readonly cwd: string;
  readonly git: 'work-tree' | 'no-work-tree' | 'refused' | 'no-git';
  /** Traces of loops that work by a stop hook, each with its remedy. */
  readonly otherLoops: readonly string[];
  /** Tasks with a lock of a driver that is dead. */
  readonly staleLocks: readonly string[];
  /** Tasks that say they run, or have not told their end, and have no driver. */
  readonly interrupted: readonly string[];
  readonly broken: readonly {
    readonly taskId: string;
    readonly stateFile: string;
    readonly how: 'corrupt' | 'too-new' | 'unreadable';
  }[];
  /** Why the states cannot be looked at; null where they can. */
  readonly statesUnreadable: string | null;
}

export interface AgentFacts {
  readonly kind: 'claude' | 'command';
  readonly place: { readonly file: string } | { readonly missing: string };
  /** Null where it was not asked: a command has no version that one could count on. */
  readonly version: { readonly version: string } | { readonly failed: string } | null;
  /** Null for a command. */
  readonly login: { readonly found: readonly string[]; readonly isConclusive: boolean } | null;
  /** `claude` refuses to skip permissions for root. */
  readonly isRefusedAsRoot: boolean;
}

export type FolderFacts =
  | { readonly kind: 'writable' }
  | { readonly kind: 'to-be-made'; readonly within: string }
  | { readonly kind: 'not-writable'; readonly why: string };

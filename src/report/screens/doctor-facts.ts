import type { AgentName } from '../../core/agent/agents/agents.ts';
import type { Finding } from '../../core/agent/finding.ts';
import type { UntrustedConfig } from './trust.ts';

/** What `ralph doctor` found, before it is rated. */
export interface DoctorFacts {
  /** Whatever prevents every run from starting: invalid settings, a path that is not a folder. */
  readonly problems: readonly string[];
  /** What every run would print when it starts. */
  readonly notices: readonly string[];
  /** The found configuration that a run would refuse because nobody has trusted it, or null. */
  readonly untrusted:
    | (UntrustedConfig & {
        /** The agent program it names, or null. It is not started. */
        readonly program: string | null;
      })
    | null;
  /** Null if an untrusted configuration chooses the agent. */
  readonly agent: AgentFacts | null;
  readonly vault: string;
  readonly vaultProbe: FolderFacts;
  readonly stateDir: string;
  readonly stateProbe: FolderFacts;
  /** Folders of the vault that are symbolic links to a place outside it. */
  readonly strayFolders: readonly string[];
  /** Null if unknown. */
  readonly freeBytes: number | null;
  readonly cwd: string;
  readonly git: 'work-tree' | 'no-work-tree' | 'refused' | 'no-git';
  /** Tasks locked by a dead driver. */
  readonly staleLocks: readonly string[];
  /** Tasks without a driver whose state says running, or whose end was not announced. */
  readonly interrupted: readonly string[];
  readonly broken: readonly {
    readonly taskId: string;
    readonly stateFile: string;
    readonly how: 'corrupt' | 'too-new' | 'unreadable';
  }[];
  /** Why the states cannot be listed, or null. */
  readonly statesUnreadable: string | null;
}

export interface AgentFacts {
  readonly name: AgentName;
  readonly place: { readonly file: string } | { readonly missing: string };
  /** Null if it was not asked: not every program answers to `--version`. */
  readonly version: { readonly version: string } | { readonly failed: string } | null;
  /** What the agent's own checks found. */
  readonly findings: readonly Finding[];
  /** What would interfere with it, each with its remedy; null if nothing can. */
  readonly interferences: readonly string[] | null;
}

export type FolderFacts =
  | { readonly kind: 'writable' }
  | { readonly kind: 'to-be-made'; readonly within: string }
  | { readonly kind: 'not-writable'; readonly why: string };

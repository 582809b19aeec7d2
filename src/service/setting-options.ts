import type { AgentName } from '../core/agent/agents/agents.ts';
import type { SettingKind } from '../core/settings/rows/setting-row.ts';
import type { SettingName, SettingRowOf, SettingWith } from '../core/settings/settings.ts';

/** Settings that only the command line has, and what a program does in their place. */
export const OF_COMMAND_LINE = {
  config: 'runTask reads no configuration file; give its settings as options',
  detach: 'a program runs a task in the background by not awaiting it',
  dryRun: 'ralph run --dry-run shows what a task would do',
  json: 'onEvent receives the events',
  noColor: 'runTask prints nothing',
  quiet: 'runTask prints nothing',
  resumeIfOpen: 'resume names the task to resume',
  verbose: 'onText receives the text of the agent',
} as const satisfies Partial<Record<SettingName, string>>;

type OfCommandLine = keyof typeof OF_COMMAND_LINE;

/** Whether only the command line has a setting, so that it is no option of `runTask`. */
export function isOfCommandLine(name: string): name is OfCommandLine {
  return Object.hasOwn(OF_COMMAND_LINE, name);
}

/** A shell command that has to exit 0 before the task counts as complete, and the name that ralph shows for it. */
export interface NamedCheck {
  readonly name: string;
  readonly command: string;
}

/** One text for all agents, several texts as `AGENT=TEXT`, or an object with a text for each agent. */
type AgentTexts = string | readonly string[] | Readonly<Partial<Record<AgentName, string>>>;

/**
 * The settings of a task, under the names of the flags in camelCase. In the published package, these types also have
 * the help text of each setting: `scripts/option-types.ts` writes them.
 */
export type SettingOptions = {
  readonly [Name in Exclude<SettingName, OfCommandLine | 'signal'>]?:
    | FormOf<SettingRowOf<Name>['type']>
    | (Name extends SettingWith<{ resume: 'adds' }> ? `+${number}` : never);
};

type FormOf<Type extends SettingKind> = Type extends { readonly kind: 'choice' }
  ? Type['choices'][number]
  : Type extends { readonly kind: 'choices' }
    ? Type['choices'][number] | Type['choices']
    : Forms[Exclude<Type['kind'], 'choice' | 'choices'>];

interface Forms {
  readonly text: string;
  readonly command: string;
  readonly texts: string | readonly string[];
  readonly checks: string | readonly (string | NamedCheck)[];
  readonly 'agent-texts': AgentTexts;
  readonly switch: boolean;
  readonly count: number;
  readonly cost: number;
  readonly percent: number | `${number}%`;
  readonly duration: number | string;
  readonly size: number | string;
}

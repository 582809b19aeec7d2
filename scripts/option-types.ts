import { AGENT_NAMES } from '../src/core/agent/agents/agents.ts';
import type { SettingKind } from '../src/core/settings/rows/setting-row.ts';
import {
  isRepeatable,
  SETTINGS,
  type SettingName,
  settingNames,
} from '../src/core/settings/settings.ts';
import { isOfCommandLine } from '../src/service/setting-options.ts';

/** Settings whose option has a type of its own, in `RunTaskOptions`. */
const NOT_MADE: readonly SettingName[] = ['signal'];

/** Where the library has another default than the help says. */
const DEFAULTS: Readonly<Partial<Record<SettingName, string>>> = { preventSleep: 'off' };

const HEAD = `import type { AgentName } from '../core/agent/agents/agents.ts';

/** A shell command that has to exit 0 before a claim is accepted, and its name in what ralph says. */
export interface NamedCheck {
    readonly name: string;
    readonly command: string;
}

/** A text for every agent, several as \`AGENT=TEXT\`, or a text for each agent of a list. */
type AgentTexts = string | readonly string[] | Readonly<Partial<Record<AgentName, string>>>;

/** The settings of a task, under the names of the flags in camelCase; see docs/settings.md. */
export interface SettingOptions {
`;

/**
 * Returns what the package has in place of the types in `src/service/setting-options.ts`: the same, with the help of each
 * setting.
 */
export function optionTypes(): string {
  const options = settingNames()
    .filter((name) => !isOfCommandLine(name) && !NOT_MADE.includes(name))
    .map((name) => `${comment(name)}\n    readonly ${name}?: ${typeOf(name)};\n`);
  return `${HEAD}${options.join('')}}\n`;
}

/** The help in the words of an option: a list for a flag that is repeated, `false` for a flag that turns off. */
function comment(name: SettingName): string {
  const row = SETTINGS[name];
  const { help, negation, flag, resume, default: fallback } = row;
  const repeated = isRepeatable(row) ? help.replace(/[;,] may be repeated/, '') : help;
  const off = negation === undefined ? repeated : repeated.replace(negation, '`false`');
  const given = DEFAULTS[name];
  const words = given === undefined ? off : off.replace(/\(default: .+\)/, `(default: ${given})`);
  const preset = fallback === undefined ? '' : ` (default: ${fallback})`;
  const unit = UNITS[row.type.kind] ?? '';
  return `    /** \`${flag}\`: ${words}${preset}.${unit}${resume === 'adds' ? addsNote(row.type) : ''} */`;
}

const UNITS: Readonly<Partial<Record<SettingKind['kind'], string>>> = {
  duration: " Milliseconds, or a text such as `'30m'`.",
  size: " Bytes, or a text such as `'50MB'`.",
};

function addsNote({ kind }: SettingKind): string {
  return ` With \`resume\`, \`'${kind === 'duration' ? '+30m' : '+5'}'\` adds to what the task has used.`;
}

function typeOf(name: SettingName): string {
  const { type, resume } = SETTINGS[name];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a type.
  const added = resume === 'adds' ? ' | `+${number}`' : '';
  switch (type.kind) {
    case 'text':
    case 'command':
      return 'string';
    case 'texts':
      return 'string | readonly string[]';
    case 'checks':
      return 'string | readonly (string | NamedCheck)[]';
    case 'agent-texts':
      return 'AgentTexts';
    case 'switch':
      return 'boolean';
    case 'choice':
      return type.choices.map((choice) => `'${choice}'`).join(' | ');
    case 'choices':
      return type.choices === AGENT_NAMES
        ? 'AgentName | readonly AgentName[]'
        : 'string | readonly string[]';
    case 'count':
    case 'cost':
      return `number${added}`;
    case 'percent':
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a type.
      return 'number | `${number}%`';
    case 'duration':
    case 'size':
      return 'number | string';
  }
}

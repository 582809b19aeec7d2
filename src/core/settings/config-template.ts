import { isRepeatable, keyOf, SETTINGS, type SettingName, settingNames } from './settings.ts';
import { TASK_TYPES } from './task-type.ts';

const HEAD = `# Settings of ralph for this folder and those below it. Every line is a comment:
# remove the "# " before a setting to set it. A flag or a RALPH_* variable overrides this file, and
# "ralph run --dry-run" shows each value in force and its source.
# Settings that run commands, set permissions or choose folders count only after "ralph trust", and
# only until this file changes. Anyone who can write this file can run commands: keep it private.
`;

const TYPES_HEAD = `
# ---- Task types ----

# Named limits for --task-type. These are built in; you can add others.
# task_types:
`;

/** Settings that make sense for a single run only. */
const OF_ONE_RUN: readonly SettingName[] = ['prompt', 'dryRun', 'json'];

/** Returns a configuration file that shows every setting as a comment, made from the table of settings. */
export function configTemplate(): string {
  let text = HEAD;
  let group = '';
  for (const name of settingNames()) {
    const key = keyOf(name);
    if (key === null || OF_ONE_RUN.includes(name)) continue;
    const row = SETTINGS[name];
    if (row.group !== group) text += `\n# ---- ${row.group} ----\n`;
    group = row.group;
    const choices = row.type.kind === 'choice' ? ` (${row.type.choices.join(', ')})` : '';
    text += `\n${wrapped(`${row.help}${choices}`)}# ${key}: ${exampleOf(name)}\n`;
  }
  return text + TYPES_HEAD + Object.keys(TASK_TYPES).map(typeLines).join('');
}

/** Returns the default of a setting, or else the placeholder from the help. */
function exampleOf(name: SettingName): string {
  const { type, argument = 'TEXT', default: fallback } = SETTINGS[name];
  if (fallback !== undefined) return fallback;
  if (type.kind === 'switch') return 'true';
  return isRepeatable(SETTINGS[name]) ? `[${argument}]` : argument;
}

function typeLines(type: string): string {
  const { maxIterations, iterationTimeout, ...others } = TASK_TYPES[type] ?? {};
  const limits = { max_iterations: maxIterations, iteration_timeout: iterationTimeout, ...others };
  const lines = Object.entries(limits).flatMap(([key, limit]) =>
    limit === undefined ? [] : [`#     ${key}: ${limit}\n`],
  );
  return `#   ${type}:\n${lines.join('')}`;
}

/** Wraps a sentence into lines with "##", which stay comments if a "#" is removed from every line. */
function wrapped(sentence: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + word.length > 92) {
      lines.push(line);
      line = '';
    }
    line += `${line === '' ? '' : ' '}${word}`;
  }
  return [...lines, line].map((each) => `## ${each}\n`).join('');
}

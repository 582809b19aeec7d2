import { keyOf, SETTINGS, type SettingName, settingNames } from '../../core/settings.ts';
import { TASK_TYPES } from '../../core/task-type.ts';

const HEAD = `# Settings of ralph for whoever is in this folder or below it. Every line is a comment as it stands:
# take away the "# " of a setting to set it. A flag or a RALPH_* variable wins over this file, and
# "ralph run --dry-run" shows what is in force and where it comes from.
# What runs commands, sets permissions or says where to work counts only once "ralph trust" has
# noted this very content. Whoever can write this file can have commands run: keep it yours.
`;

const TYPES_HEAD = `
# ---- Task types ----

# Limits under a name, for --task-type. These are built in; others can be added.
# task_types:
`;

/** Settings that belong to one run, and not to all of them. */
const OF_ONE_RUN: readonly SettingName[] = ['prompt', 'dryRun', 'json'];

/** A configuration file that sets nothing and shows everything, made from the table of settings. */
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

/** The default; without one, what stands for the value in the help. */
function exampleOf(name: SettingName): string {
  const { type, argument = 'TEXT', default: fallback } = SETTINGS[name];
  if (fallback !== undefined) return fallback;
  if (type.kind === 'switch') return 'true';
  return type.kind === 'texts' ? `[${argument}]` : argument;
}

function typeLines(type: string): string {
  const { maxIterations, iterationTimeout, timeout } = TASK_TYPES[type] ?? {};
  const limits = { max_iterations: maxIterations, iteration_timeout: iterationTimeout, timeout };
  const lines = Object.entries(limits).flatMap(([key, limit]) =>
    limit === undefined ? [] : [`#     ${key}: ${limit}\n`],
  );
  return `#   ${type}:\n${lines.join('')}`;
}

/** Explanations have two "#", so that they stay comments where one is taken away from every line. */
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

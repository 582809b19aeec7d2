import type { SettingKind } from '../src/core/settings/rows/setting-row.ts';
import { keyOf, SETTINGS, settingNames, variableOf } from '../src/core/settings/settings.ts';
import { TASK_TYPES } from '../src/core/settings/task-type.ts';
import { EXIT_CODES } from '../src/exit-codes.ts';

/** The tables in the documents that are made from the code, by the name of their place. */
const DOC_TABLES: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  'task-types': taskTypesTable,
  'exit-codes': exitCodesTable,
};

/**
 * A document with each `<!-- table: NAME -->` … `<!-- end -->` filled anew, and each
 * `<!-- file: PATH -->` with that file's text.
 */
export function withTables(document: string, readText: (path: string) => string): string {
  return document.replace(
    /(<!-- (table|file): ([\w./-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open: string, kind: string, name: string, close: string) =>
      `${open}${kind === 'file' ? quoted(name, readText(name)) : tableOf(name)}\n${close}`,
  );
}

const LANGUAGES: Readonly<Record<string, string>> = { sh: 'sh', yml: 'yaml', ts: 'ts' };

function quoted(path: string, text: string): string {
  const language = LANGUAGES[path.replace(/^.*\./, '')] ?? 'text';
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function tableOf(name: string): string {
  const table = DOC_TABLES[name];
  if (table === undefined) throw new Error(`no table is called ${name}`);
  return table();
}

function settingsTable(): string {
  const groups = [...new Set(settingNames().map((name) => SETTINGS[name].group))];
  return groups.map((group) => `### ${group}\n\n${groupTable(group)}`).join('\n\n');
}

function groupTable(group: string): string {
  const rows = settingNames()
    .filter((name) => SETTINGS[name].group === group)
    .map((name) => {
      const row = SETTINGS[name];
      const argument = row.argument === undefined ? '' : ` ${row.argument}`;
      const flags = [row.short, row.flag, ...(row.aliases ?? [])].filter(
        (flag) => flag !== undefined,
      );
      return [
        flags.map((flag) => code(`${flag}${argument}`)).join(', '),
        code(variableOf(name)),
        `${code(keyOf(name))}${row.trust === true ? ' †' : ''}`,
        row.default === undefined ? '' : code(row.default),
        `${row.help.replaceAll('|', '\\|')}${kindNote(row.type)}`,
      ];
    });
  return table(['flag', 'variable', 'key', 'default', 'what it sets'], rows);
}

function kindNote(type: SettingKind): string {
  return type.kind === 'choice' ? `: ${type.choices.map(code).join(', ')}` : '';
}

function taskTypesTable(): string {
  const rows = Object.entries(TASK_TYPES).map(([type, limits]) => [
    code(type),
    limits.maxIterations ?? '',
    limits.iterationTimeout ?? '',
    limits.timeout ?? '',
  ]);
  return table(['type', 'max iterations', 'iteration timeout', 'whole task'], rows);
}

function exitCodesTable(): string {
  const rows = EXIT_CODES.map((row) => [
    row.code,
    row.status === '–' ? row.status : code(row.status),
    row.meaning,
  ]);
  return table(['code', 'status', 'meaning'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string | null): string {
  return text === null ? '–' : `\`${text}\``;
}

/** The documents with tables in them. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'docs/settings.md',
  'docs/automation.md',
  'docs/library.md',
];

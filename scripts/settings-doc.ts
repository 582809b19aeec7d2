import type { FlagRow } from '../src/core/settings/rows/setting-row.ts';
import {
  choicesOf,
  keyOf,
  SETTINGS,
  settingNames,
  variableOf,
} from '../src/core/settings/settings.ts';
import { TASK_TYPES } from '../src/core/settings/task-type.ts';
import { ENDED_STATUSES, ENDINGS, type EndedStatus, endingRow } from '../src/core/task/endings.ts';
import { EXIT_ALREADY_ACTIVE, EXIT_BUG, EXIT_USAGE, exitCodeFor } from '../src/exit-codes.ts';
import { conformanceTable, EVENT_AGENTS } from '../test/helpers/conformance.ts';
import { picturedFleet } from './pictured-fleet.ts';

/** The tables in the documents that are made from the code, by the name of their place. */
const DOC_TABLES: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  'task-types': taskTypesTable,
  'exit-codes': exitCodesTable,
  endings: endingsTable,
  agents: agentsTable,
  'fleet-status': picturedFleet,
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

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'sh',
  sql: 'sql',
  ts: 'ts',
  yaml: 'yaml',
  yml: 'yaml',
};

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
        `${code(keyOf(name))}${row.trust === false ? '' : ' †'}`,
        row.default === undefined ? '' : code(row.default),
        `${row.help.replaceAll('|', '\\|')}${kindNote(row)}`,
      ];
    });
  return table(['flag', 'variable', 'key', 'default', 'what it sets'], rows);
}

function kindNote(row: FlagRow): string {
  const choices = choicesOf(row);
  return choices.length === 0 ? '' : `: ${choices.map(code).join(', ')}`;
}

function taskTypesTable(): string {
  const rows = Object.entries(TASK_TYPES).map(([type, limits]) => [
    code(type),
    limits.maxIterations ?? '',
    limits.iterationTimeout ?? '',
    limits.timeout ?? '',
    limits.proof ?? 'tell',
  ]);
  return table(['type', 'max iterations', 'iteration timeout', 'whole task', 'proof'], rows);
}

/** What the exit codes of ended tasks mean. */
const MEANINGS: Readonly<Record<EndedStatus, string>> = {
  completed: 'a completion condition held, and every gate passed',
  failed: 'cannot go on; `exit_reason` says why',
  max_iterations_reached: 'the iterations ran out',
  timeout: 'the whole-task limit passed',
  stalled:
    'no progress, the same error again and again, two iterations that ralph had to end, nothing but refused tools, or a claim that nothing proves',
  paused: 'held by `ralph pause`, or waits for an approval; `ralph resume` goes on',
  paused_awaiting_approval:
    'held by `ralph pause`, or waits for an approval; `ralph resume` goes on',
  budget_spent: '`--max-cost` or `--max-cost-per-day` reached',
  usage_limited:
    'a usage limit or outage outlasts `--max-wait`, or `--max-usage` reached: try again later',
  stopped: 'SIGHUP, SIGINT, SIGTERM',
};

const OTHER_CODES = [
  {
    code: `${EXIT_USAGE}`,
    status: '–',
    meaning: 'bad flags or prompt, or the run is not possible here; nothing was started',
  },
  { code: `${EXIT_ALREADY_ACTIVE}`, status: '–', meaning: 'a live loop already has this task' },
  {
    code: `${EXIT_BUG}`,
    status: '–, failed',
    meaning: 'a bug in ralph; a task that ran is `failed`, `failed:bug`',
  },
];

/** All exit codes in order; `code` and `status` name several where they share a row. */
export const EXIT_CODES = [...codesOfEndings(), ...OTHER_CODES].toSorted(
  (one, other) => Number.parseInt(one.code, 10) - Number.parseInt(other.code, 10),
);

function codesOfEndings(): typeof OTHER_CODES {
  const rows = new Map<string, (typeof OTHER_CODES)[number]>();
  for (const status of ENDED_STATUSES) {
    const codes = new Set(reasonsOf(status).map((reason) => exitCodeFor(status, reason)));
    const code = [...codes].filter((each) => each !== EXIT_BUG).join(', ');
    const same = rows.get(code)?.status;
    const all = same === undefined ? status : `${same}, ${status}`;
    rows.set(code, { code, status: all, meaning: MEANINGS[status] });
  }
  return [...rows.values()];
}

function exitCodesTable(): string {
  const rows = EXIT_CODES.map((row) => [
    row.code,
    row.status === '–' ? row.status : code(row.status),
    row.meaning,
  ]);
  return table(['code', 'status', 'meaning'], rows);
}

function endingsTable(): string {
  const rows = ENDED_STATUSES.flatMap((status) =>
    reasonsOf(status).map((reason) => {
      const { exitCode, note, ifOpen } = endingRow(status, reason);
      const name = note === undefined ? null : `RALPH_${note.word}_…`;
      return [code(status), code(reason), String(exitCode), code(name), ifOpen];
    }),
  );
  return table(['`status`', '`exit_reason`', 'exit code', 'note', '`--resume-if-open`'], rows);
}

function reasonsOf(status: EndedStatus): readonly string[] {
  return Object.keys(ENDINGS[status].reasons);
}

/** What ralph knows of each agent, from the cases that a test plays. */
function agentsTable(): string {
  return table(['what ralph knows', ...EVENT_AGENTS.map(code)], conformanceTable());
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
  'docs/resume.md',
  'docs/automation.md',
  'docs/library.md',
  'docs/agents.md',
  'docs/sandbox.md',
  'docs/fleet-workers.md',
  'docs/fleet-operating.md',
];

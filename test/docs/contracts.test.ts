import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingsFromEnvironment } from '../../src/core/settings/environment.ts';
import { SETTINGS, settingNames, variableOf } from '../../src/core/settings/settings.ts';
import { TASK_TYPES } from '../../src/core/settings/task-type.ts';
import { ENDED_STATUSES } from '../../src/core/task/endings.ts';
import type { Status } from '../../src/core/task/task-state.ts';
import * as ralph from '../../src/index.ts';

// docs/contracts.md, held against the code it names, the tests it names, and the names that the five
// documents have.

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Row {
  readonly section: string;
  readonly theirs: string;
  readonly here: string;
  readonly test: string;
}

/** The rows of all tables with a column of tests. */
function rowsOf(document: string): readonly Row[] {
  return document.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'));
    return [...part.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)]
      .map(([, theirs = '', here = '', name = '']) => ({ section, theirs, here, test: name }))
      .filter(({ test: name }) => name !== 'test' && name !== '---');
  });
}

const ROWS = rowsOf(read('docs/contracts.md'));
const rowsIn = (section: string): readonly Row[] => ROWS.filter((row) => row.section === section);
const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

/** Commands that other parts of ralph have still to bring; each leaves this list once it is there. */
const TO_COME: readonly string[] = [];

/** The literal titles of all tests. */
const TITLES: readonly string[] = readdirSync(join(ROOT, 'test'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => [
    // The call itself, or what follows the list of `test.for`.
    ...read(join('test', name)).matchAll(/(?:\b(?:test|it)|\))\(\s*(['"])((?:\\.|(?!\1).)+)\1,/g),
  ])
  .map(([, , title = '']) => title);

// Written out here: this is what the documents call them.
const NAMES: Readonly<Record<string, readonly string[]>> = {
  Methods: [
    'start_task get_task_state pause_task resume_task complete_task fail_task increment_iteration',
    'startTask checkTaskComplete incrementIteration getTaskState updateProgress completeTask',
    'handleTimeout handleMaxIterations',
  ],
  Statuses: [
    'initializing in_progress waiting_approval paused completed failed timeout',
    'max_iterations_reached pending running paused_awaiting_approval stopped',
  ],
  Errors: [
    'TaskAlreadyActiveError InvalidPromptError TaskNotFoundError InvalidStateError',
    'ApprovalPendingError MaxIterationsExceededError MaxIterationsError TimeoutError',
    'StateCorruptedError ValueError RuntimeError IOError',
  ],
  Events: [
    'task_started task_iterated task_paused task_resumed task_completed task_failed',
    'max_iterations_reached',
  ],
  'Environment variables': [
    'RALPH_MAX_ITERATIONS RALPH_TIMEOUT_MINUTES RALPH_STATE_DIR RALPH_DONE_FOLDER',
  ],
  Settings: [
    'max_iterations timeout_minutes state_dir done_folder check_interval_seconds',
    'completion_strategy completion_promise watch_glob watch_file task_type task_prompt prompt',
    'task_file max_runtime timeout enabled completion_signals no_progress_limit same_error_limit',
    'email_processing invoice_generation social_media_posting weekly_audit default',
  ],
};

describe('docs/contracts.md', () => {
  test.for(
    Object.entries(NAMES).flatMap(([section, lines]) =>
      lines.flatMap((line) => line.split(' ')).map((name) => [section, name] as const),
    ),
  )('%s: %s has a row', ([section, name]) => {
    const names = rowsIn(section).flatMap(({ theirs }) => codeIn(theirs));
    expect(names).toContain(name);
  });

  test.for(ROWS.map((row) => [row.theirs, row] as const))('%s: its test is there', ([, row]) => {
    const waits = codeIn(row.here).some((word) => TO_COME.includes(word.replace(/^ralph /, '')));
    if (row.test === '–' && waits) return;
    expect(TITLES.filter((title) => title.startsWith(row.test))).not.toEqual([]);
  });

  test.for(ROWS.map((row) => [row.theirs, row] as const))(
    '%s: what it names is there',
    ([, row]) => {
      for (const word of codeIn(row.here)) {
        for (const [flag] of word.matchAll(/--[a-z-]+/g)) expect(flags()).toContain(flag);
        const command = /^ralph ([a-z]+)/.exec(word)?.[1];
        if (command !== undefined && !TO_COME.includes(command))
          expect(hasCommand(command)).toBe(true);
        const note = /^RALPH_([A-Z]+)_$/.exec(word)?.[1];
        const method = note ?? /^(?:RalphService\.)?(\w+)$/.exec(word)?.[1];
        if (method === undefined) continue;
        expect([word, SOURCES.some((text) => new RegExp(`\\b${method}\\b`).test(text))]).toEqual([
          word,
          true,
        ]);
      }
    },
  );

  test('the methods are those of RalphService, all of them', () => {
    const named = rowsIn('Methods').flatMap(({ here }) =>
      codeIn(here).flatMap((word) => /^RalphService\.(\w+)$/.exec(word)?.[1] ?? []),
    );
    const methods = Object.getOwnPropertyNames(ralph.RalphService.prototype);
    expect([...new Set(named)].sort()).toEqual(
      methods.filter((name) => name !== 'constructor').sort(),
    );
  });

  test('the statuses are statuses of the state file', () => {
    const known: readonly Status[] = ['pending', 'running', ...ENDED_STATUSES];
    for (const { here } of rowsIn('Statuses')) {
      for (const status of codeIn(here)) expect(known).toContain(status);
    }
  });

  test('the errors are exported by the package', () => {
    for (const { here } of rowsIn('Errors')) {
      const [name = ''] = codeIn(here).filter((word) => word.endsWith('Error'));
      if (name !== '') expect(ralph).toHaveProperty(name, expect.any(Function));
    }
  });

  test('the events are told under their names', () => {
    const known = ['machine/events', 'task/endings']
      .map((name) => read(`src/core/${name}.ts`))
      .join();
    for (const { theirs, here } of rowsIn('Events')) {
      expect(codeIn(here)).toEqual(codeIn(theirs));
      for (const event of codeIn(here)) expect(known).toContain(`event: '${event}'`);
    }
  });

  test('the variables are read by the command', () => {
    const known = settingNames().map(variableOf);
    for (const { theirs } of rowsIn('Environment variables')) {
      for (const name of codeIn(theirs)) {
        const { warnings } = settingsFromEnvironment({ [name]: '1' });
        expect([name, warnings]).toEqual([name, []]);
      }
    }
    expect(known).toContain('RALPH_TIMEOUT');
  });

  test('the task types are built in', () => {
    for (const { here } of rowsIn('Settings')) {
      for (const [, type = ''] of here.matchAll(/--task-type (\w+)/g)) {
        expect(TASK_TYPES).toHaveProperty(type);
      }
    }
  });

  test('of what was to come, nothing has come without its row being filled in', () => {
    expect(TO_COME.filter(hasCommand)).toEqual([]);
  });
});

/** The program's own texts. */
const SOURCES: readonly string[] = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(join('src', name)));

function flags(): readonly string[] {
  const settings = settingNames().flatMap((name) => [
    SETTINGS[name].flag,
    ...(SETTINGS[name].aliases ?? []),
  ]);
  const options = [...read('src/cli/command-list.ts').matchAll(/'(--[a-z-]+)/g)].map(
    ([, flag = '']) => flag,
  );
  return [...settings, ...options];
}

function hasCommand(name: string): boolean {
  return new RegExp(`command\\(\\s*'${name}'`).test(read('src/cli/command-list.ts'));
}

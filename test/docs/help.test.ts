import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { EXIT_CODES } from '../../scripts/settings-doc.ts';
import { runProgram } from '../../src/cli/program.ts';
import { SETTINGS, settingNames } from '../../src/core/settings/settings.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What `ralph … --help` prints, without a process of its own: of ralph itself, or of a command. */
const helpOf = (...command: readonly string[]): Promise<string> => printedBy(...command, '--help');

async function printedBy(...argv: readonly string[]): Promise<string> {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    expect(await runProgram(argv)).toBe(0);
    return written.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    written.mockRestore();
  }
}

const OWN_HELP = await helpOf();

/** The names of all commands, in their groups. */
const COMMANDS = [...OWN_HELP.replace(/^Examples:$[\s\S]*/m, '').matchAll(/^ {2}([a-z]+)/gm)].map(
  ([, name]) => name ?? '',
);
const WITH_HELP = COMMANDS.filter((name) => name !== 'help');

// These read their flags themselves, and take their help from the table of commands.
test.for([[], ['run'], ['resume'], ['rescue'], ['watch']])(
  'the installed program prints this very help, also on a wide terminal: ralph %s --help',
  async (command) => {
    const env = { PATH: process.env.PATH ?? '', COLUMNS: '300' };
    const argv = [join(root, 'bin/ralph.js'), ...command, '--help'];
    const { stdout, status } = spawnSync(process.execPath, argv, { env, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toBe(await helpOf(...command));
  },
);

describe('ralph run --help', async () => {
  const text = await helpOf('run');

  test.for(settingNames())('tells of %s', (name) => {
    const { flag, short, argument, help: sentence, default: value } = SETTINGS[name];
    const written = `${short === undefined ? '' : `${short}, `}${flag}${argument === undefined ? '' : ` <${argument}>`}`;
    expect(text).toMatch(new RegExp(`^  ${escaped(written)}(\\s|$)`, 'm'));
    const folded = text.replace(/\s+/g, ' ');
    expect(folded).toContain(sentence);
    if (value !== undefined) expect(folded).toContain(`(default: ${value})`);
  });

  test('tells of no flag that is not there', () => {
    const known = new Set(settingNames().map((name) => SETTINGS[name].flag));
    const told = [...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag ?? '');
    expect(told.filter((flag) => !known.has(flag))).toEqual(['--help']);
    expect(new Set(told).size).toBe(told.length);
  });
});

test('help fits a terminal of 80 columns, without a space at a line end', async () => {
  for (const command of [[], ...COMMANDS.map((name) => [name])]) {
    for (const line of (await helpOf(...command)).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
      expect(line).toBe(line.trimEnd());
    }
  }
});

// Most commands learn their flags only where these are printed.
test('the shell completes the flags in the help of each command', async () => {
  for (const name of WITH_HELP) {
    const told = [...(await helpOf(name)).matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)];
    const lines = (await printedBy('__complete', 'ralph', name, '--')).split('\n');
    const flags = lines.map((line) => line.split('\t')[0]);
    expect(flags).toEqual(expect.arrayContaining(told.map(([, flag]) => flag)));
  }
});

test('ralph help COMMAND prints the help of the command', async () => {
  for (const name of WITH_HELP) expect(await printedBy('help', name)).toBe(await helpOf(name));
});

describe('the examples in the help', () => {
  test.for(WITH_HELP)('of %s name it, and only flags that it has', async (name) => {
    const [text = '', list = ''] = (await helpOf(name)).split(/^Examples:$/m);
    const examples = list
      .trim()
      .split('\n')
      .map((line) => line.trim());
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(example).toMatch(new RegExp(`^ralph ${name}( |$)`));
      const own = example.replace(/"[^"]*"/g, '').split(' -- ')[0] ?? '';
      for (const [flag] of own.matchAll(/(?<= )--?[a-z-]+/g)) {
        expect(text).toMatch(new RegExp(`^ {2}(-\\w, )?${flag}\\b|^ {2}${flag}, `, 'm'));
      }
    }
  });

  test('of ralph itself are of its commands', () => {
    const [, list = ''] = OWN_HELP.split(/^Examples:$/m);
    const used = [...list.matchAll(/^ {2}ralph (\w+)/gm)].map(([, name]) => name);
    expect(used).toEqual(['demo', 'run', 'status']);
  });

  test('stand below groups, the one that is wanted first on top', () => {
    const headings = [...OWN_HELP.matchAll(/^([A-Z].*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      'Options',
      'Run a task',
      'Look at it',
      'Steer it',
      'Set up and clean up',
      'Work through a vault',
      'Work with a fleet',
      'Examples',
    ]);
    expect(COMMANDS.slice(0, 3)).toEqual(['run', 'resume', 'demo']);
  });
});

describe('README.md', () => {
  test('has the exit codes of the program', () => {
    const rows = tableAfter(read('README.md'), /^\|\s*code\s*\|\s*status\s*\|\s*meaning\s*\|/im);
    const plain = (cell: string): string => cell.replaceAll('`', '').trim();
    expect(rows.map((cells) => cells.map(plain))).toEqual(
      EXIT_CODES.map(({ code, status, meaning }) => [code, status, meaning].map(plain)),
    );
  });

  test('names only commands and flags that are there', () => {
    const code = codeOf(read('README.md'));
    const known = new Set([...COMMANDS, 'help']);
    const used = [...code.matchAll(/(?:^|[\s;&|(])(?:npx )?ralph ([a-z]+)/gm)].map(
      ([, name]) => name ?? '',
    );
    expect(used).toEqual(expect.arrayContaining(['run', 'demo']));
    expect(used.filter((name) => !known.has(name))).toEqual([]);

    const flags = new Set([
      ...settingNames().flatMap((name) => [SETTINGS[name].flag, ...(SETTINGS[name].aliases ?? [])]),
      ...['--help', '--version'],
    ]);
    for (const line of code.replaceAll('\\\n', ' ').split('\n')) {
      const words = /(?:^|[\s;&|(])ralph run\b(.*)/.exec(line)?.[1]?.split(/\s--(?:\s|$)/)[0] ?? '';
      for (const [flag] of words
        .replace(/"[^"]*"|'[^']*'/g, '')
        .matchAll(/(?<!\S)--[a-z][\w-]*/g)) {
        expect({ flag, known: flags.has(flag) }).toEqual({ flag, known: true });
      }
    }
  });

  test('runs only scripts of the package', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, name = ''] of codeOf(read('README.md')).matchAll(/npm run ([\w:-]+)/g)) {
      expect(Object.keys(scripts)).toContain(name);
    }
  });
});

test('the lock file sends nobody to a host of its own', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { resolved?: string }>;
  };
  const resolved = Object.values(packages).map((entry) => entry.resolved);
  expect(resolved.filter((where) => where !== undefined)).toEqual([]);
});

/** What stands in fences and in backticks. */
function codeOf(markdown: string): string {
  const fences = [...markdown.matchAll(/^(`{3,})[^\n]*\n([\s\S]*?)^\1$/gm)].map(
    ([, , code]) => code,
  );
  const inline = [...markdown.replace(/^(`{3,})[\s\S]*?^\1$/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code]) => code,
  );
  return [...fences, ...inline].join('\n');
}

/** The cells of a table's rows, by the line that begins it. */
function tableAfter(markdown: string, head: RegExp): readonly (readonly string[])[] {
  const start = markdown.search(head);
  expect(start).toBeGreaterThanOrEqual(0);
  const lines = markdown.slice(start).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .map((line) => line.replace(/^\||\|$/g, '').split(/(?<!\\)\|/));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTINGS, settingNames } from '../../src/core/settings/settings.ts';

// What the documents tell people to type, held against what `--help` says.

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Flags of other programs, which the documents name by themselves. */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  'CONTRIBUTING.md': [
    ...['--sample', '--seed', '--from', '--tasks', '--minutes', '--count', '--file', '--only'],
    '--rounds',
  ],
  'docs/performance.md': ['--only', '--peers', '--quick', '--runs'],
  'docs/judge.md': ['--tools', '--setting-sources', '--strict-mcp-config', '--approval-mode'],
  'docs/agents.md': [
    ...['--approval-mode', '--allow-tool', '--allow-all-tools', '--auto', '--yolo'],
    '--dangerously-bypass-approvals-and-sandbox',
  ],
};

function help(...args: readonly string[]): string {
  const env = { PATH: process.env.PATH ?? '', COLUMNS: '300' };
  const argv = [join(ROOT, 'bin/ralph.js'), ...args, '--help'];
  return spawnSync(process.execPath, argv, { env, encoding: 'utf8' }).stdout;
}

const flagsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([flag]) => flag);

const ALIASES = settingNames().flatMap((name) => SETTINGS[name].aliases ?? []);

/** Each command with the flags that it knows. */
const KNOWN = new Map(
  [
    ...help()
      .replace(/^Examples:$[\s\S]*/m, '')
      .matchAll(/^ {2}([a-z]+)(?= )/gm),
  ].map(([, name = '']) => [name, new Set([...flagsIn(help(name)), ...ALIASES])]),
);
const ALL_FLAGS = new Set([
  ...flagsIn(help()),
  ...[...KNOWN.values()].flatMap((each) => [...each]),
]);

/** Pieces of code in a document: the lines of shell in fences, and what stands in backticks. */
function codeIn(markdown: string): readonly string[] {
  const fences = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, code = '']) =>
    code.replaceAll('\\\n', ' ').split('\n'),
  );
  const prose = markdown.replace(/^(`{3,})[\s\S]*?^\1$/gm, '');
  return [...fences, ...[...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)];
}

/** The commands of ralph in a piece of code, each with the flags it is given. */
function callsIn(code: string): readonly { readonly name: string; readonly flags: string[] }[] {
  const plain = code.replace(/"[^"]*"|'[^']*'/g, '""').replace(/\s#.*$/, '');
  const calls = plain.matchAll(/(?:^|[;&|(] ?|npx |ralph-headless )ralph ([a-z]+)([^;|&>]*)/g);
  return [...calls].map(([, name = '', rest = '']) => ({
    name,
    flags: [...flagsIn(rest.split(' -- ')[0] ?? '')],
  }));
}

describe.for(DOCUMENTS)('%s', (document) => {
  const code = codeIn(readFileSync(join(ROOT, document), 'utf8'));

  test('names only commands that are there, with flags that they have', () => {
    for (const { name, flags } of code.flatMap(callsIn)) {
      expect([...KNOWN.keys()]).toContain(name);
      expect(flags.filter((flag) => !KNOWN.get(name)?.has(flag))).toEqual([]);
    }
  });

  test('names only flags that are there', () => {
    const named = code.filter((piece) => piece.startsWith('--')).flatMap((piece) => flagsIn(piece));
    const known = new Set([...ALL_FLAGS, ...(OF_OTHERS[document] ?? [])]);
    expect(named.filter((flag) => !known.has(flag))).toEqual([]);
  });
});

test('every command is told of in the documents', () => {
  const told = new Set(
    DOCUMENTS.flatMap((name) => codeIn(readFileSync(join(ROOT, name), 'utf8')))
      .flatMap(callsIn)
      .map(({ name }) => name),
  );
  expect([...KNOWN.keys()].filter((name) => name !== 'help' && !told.has(name))).toEqual([]);
});

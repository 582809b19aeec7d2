import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// Words and sentences that had to be read twice, and that do not come back. The help is made of texts in `src`.

const ROOT = join(import.meta.dirname, '../..');

/** What the agent reads is tried with agents, so its words stay as they are. */
const TOLD_TO_AGENTS =
  /^src\/core\/(?:prompt\/|judge\/|list\/item-prompt\.ts$|completion\/back-question\.ts$)/;

const UNWANTED: readonly RegExp[] = [
  /\banew\b/,
  /\bafresh\b/,
  /\bwhoever\b/i,
  /\banother hand\b/,
  /\b(?:go|goes|going|gone|went) on with\b/,
  /\bwhat stands\b/i,
  /(?<!there )\b(?:is|are) none\b(?! of)/i,
  /checks are decided by/,
  /proves nothing about the work/,
  /fails before the first iteration/,
  /with what decides the checks as it was/,
  /found against the claim/,
  /claimed complete, but/,
  /doubtful place/,
  /mentioned, not stated/,
  /if it is as it should be/,
  /iterations of full length/,
  /protected, or there was none/,
  /starts what is new if/,
  /claimed \S+ \(fence/,
  /a configuration that is found run/,
  /trusted its current content/,
  /would be refused until ralph trust/,
  /no commit, [\d$]/,
  /the work stays as it is/,
  /The undo of (?:iteration|the)/,
  /brings? (?:it|them) again/,
  /also at work here since/,
  /free again and goes on/,
  /limits nothing in this run/,
  /tell what it limits|what it limits is not/,
  /may do everything you/,
  /may get nowhere/,
  /planted: (?:\$\{|…|`)/,
  /leaves the whole file to you/,
  /keeps to what it knows/,
  /goes on, but cannot be resumed/,
  /that nobody drives/,
  /[a-z] \([A-Z]\w+Error\)['`]|['`][A-Z]\w+Error: /,
  /hold a running loop after/,
  /is everything there\?/,
  /would be told next|No iteration counted/,
  /stop-hook contract/,
  /passing fault/,
  /can no longer be steered/,
];

/** The documents, as they are, and the code without its comments; lines are joined. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ...[...namesIn('.'), ...namesIn('docs')]
    .filter((name) => name.endsWith('.md'))
    .map((name): [string, string] => [name, read(name)]),
  ...namesIn('src')
    .filter((name) => name.endsWith('.ts') && !TOLD_TO_AGENTS.test(name))
    .map((name): [string, string] => [name, withoutComments(read(name))]),
];

function namesIn(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: folder === 'src', encoding: 'utf8' });
  return names.map((name) => (folder === '.' ? name : join(folder, name)));
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8').replace(/\s+/g, (space) =>
    space.includes('\n') ? '\n' : ' ',
  );
}

function withoutComments(code: string): string {
  return code.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

test.for(UNWANTED)('no text for people has %s', (unwanted) => {
  const found = TEXTS.flatMap(([name, text]) =>
    unwanted.test(text.replaceAll('\n', ' ')) ? [name] : [],
  );
  expect(found).toEqual([]);
});

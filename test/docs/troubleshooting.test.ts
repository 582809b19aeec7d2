import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../scripts/settings-doc.ts';
import { AGENT_NAMES } from '../../src/core/agent/agents/agents.ts';
import { ENDINGS } from '../../src/core/task/endings.ts';
import { remedyFor } from '../../src/report/ending-lines.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8');

/** The program's own texts: every template is cut where something is filled in, as the document is. */
const SOURCE = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
  .join('\n');

/** What other programs say, and ralph passes on: it is known by a pattern of its own. */
const PASSED_ON: Readonly<Record<string, RegExp>> = {
  'Not logged in': /not logged in\|please run/,
  'Credit balance is too low': /credit balance is too low/,
  'cannot be used with root/sudo privileges': /cannot be used with root\\\/sudo privileges/,
};

/** The first cells of all rows. */
const SAID = [...DOCUMENT.matchAll(/^\| (.+?) \| .+ \| .+ \|$/gm)]
  .map(([, cell = '']) => cell)
  .filter((cell) => cell !== 'ralph says' && cell !== '---');

const quotedIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words);

describe('docs/troubleshooting.md', () => {
  test.for(SAID)('quotes what is said: %s', (cell) => {
    const [first = '', ...others] = quotedIn(cell);
    for (const quoted of [first, ...others.filter((each) => each.includes(' '))]) {
      const passedOn = PASSED_ON[quoted];
      if (passedOn !== undefined) {
        expect(SOURCE).toMatch(passedOn);
        continue;
      }
      // An error's name is put before its sentence by its class.
      const [, name, sentence = quoted] = /^(\w+Error): (.*)$/.exec(quoted) ?? [];
      if (name !== undefined) expect(SOURCE).toContain(`class ${name} `);
      const parts = sentence.split('…').map((part) => part.trim());
      expect(parts.filter((part) => part.length > 3).length).toBeGreaterThan(0);
      for (const part of parts) expect([part, SOURCE.includes(part)]).toEqual([part, true]);
    }
  });

  test('has a remedy for every cause of a failure that has one', () => {
    const causes = SAID.flatMap(quotedIn).filter((words) => /^[a-z]+(-[a-z]+)*$/.test(words));
    const told = Object.keys(ENDINGS.failed.reasons)
      .filter((reason) =>
        AGENT_NAMES.some((name) => remedyFor('failed', reason, name, 'words') !== null),
      )
      .map((reason) => reason.replace('failed:', ''));
    expect(told.length).toBeGreaterThan(6);
    expect(told.filter((cause) => !causes.includes(cause))).toEqual([]);
  });

  test('has a heading for every exit code that is not 0, and for no other', () => {
    const headings = [...DOCUMENT.matchAll(/^## .*exit codes? (.+)$/gm)].map(
      ([, codes = '']) => codes,
    );
    const told = headings.flatMap((codes) => [...codes.matchAll(/\d+/g)].map(String));
    const codes = EXIT_CODES.flatMap(({ code }) => code.split(', ')).filter((code) => code !== '0');
    expect([...told].sort()).toEqual([...codes].sort());
  });
});

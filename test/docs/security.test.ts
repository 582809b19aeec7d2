import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');

/** The rows of the table of promises: the promise, and what holds it. */
const PROMISES = [...DOCUMENT.matchAll(/^\| (.+) \| (`test\/.+) \|$/gm)].map(
  ([, promise = '', heldBy = '']) => ({ promise, heldBy }),
);

describe('SECURITY.md', () => {
  test('makes promises, and is found from the README', () => {
    expect(PROMISES.length).toBeGreaterThan(5);
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('](SECURITY.md)');
  });

  test.for(PROMISES)('has tests for: $promise', ({ heldBy }) => {
    const files = [...heldBy.matchAll(/`(test\/[^`]+)`(?:: ((?:(?!`test\/).)+))?/g)];
    expect(files.length).toBeGreaterThan(0);
    for (const [, file = '', quoted] of files) {
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
      // Without a title it is all of the file.
      if (quoted === undefined) continue;
      const source = readFileSync(join(ROOT, file), 'utf8');
      const titles = [...quoted.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title);
      expect(titles.length).toBeGreaterThan(0);
      for (const title of titles) expect([title, source.includes(title)]).toEqual([title, true]);
    }
  });

  test('names what an agent with a shell can do all the same', () => {
    expect(DOCUMENT).toMatch(/An agent with a shell is you/);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

// How long the documents are, and how they begin.

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const PAGES = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const MADE = /<!-- (?:table|file): .*?<!-- end -->/gs;

test('README.md has at most 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test.for(PAGES)('docs/%s has at most 320 lines, without what is made from the code', (name) => {
  const written = read(join('docs', name)).replace(MADE, '');
  expect(written.trimEnd().split('\n').length).toBeLessThanOrEqual(320);
});

describe('CHANGELOG.md', () => {
  const versions = read('CHANGELOG.md').split(/^## /m).slice(1);

  test.for(versions.map((version) => version.split('\n')))(
    '%s opens with its headlines',
    ([, ...lines]) => {
      const opening = lines.slice(1, lines.findIndex((line) => line.startsWith('### ')) - 1);
      expect(opening.length).toBeGreaterThanOrEqual(8);
      expect(opening.length).toBeLessThanOrEqual(12);
      for (const line of opening) expect(line).toMatch(/^- .{1,117}$/);
    },
  );
});

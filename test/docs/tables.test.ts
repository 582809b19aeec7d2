import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DOCUMENTS, withTables } from '../../scripts/settings-doc.ts';
import { readConfig } from '../../src/cli/settings/config-file.ts';
import { resolveSettings } from '../../src/core/settings/resolve-settings.ts';
import { keyOf, SETTINGS, settingNames, variableOf } from '../../src/core/settings/settings.ts';
import { TASK_TYPES } from '../../src/core/settings/task-type.ts';
import { headings } from '../helpers/headings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('what the documents take from the code', () => {
  test.for(DOCUMENTS)('%s is as `npm run docs` would make it', (name) => {
    expect(read(name)).toBe(withTables(read(name), read));
    expect(read(name)).toMatch(/<!-- (table|file): /);
  });

  test('takes the place of what was there', () => {
    const stale = '<!-- table: task-types -->\nstale\n<!-- end -->\ntext\n';
    const fresh = withTables(stale, read);
    for (const type of Object.keys(TASK_TYPES)) expect(fresh).toContain(`| \`${type}\` |`);
    expect(fresh).not.toContain('stale');
    expect(fresh).toMatch(/\n<!-- end -->\ntext\n$/);
    expect(() => withTables('<!-- table: nothing -->\n<!-- end -->', read)).toThrow('nothing');
  });

  test('the examples for cron, a shell and CI are all shown', () => {
    const shown = [...read('docs/automation.md').matchAll(/<!-- file: (\S+) -->/g)];
    expect(shown.map(([, path]) => path)).toEqual([
      'examples/crontab',
      'examples/ralph-nightly.service',
      'examples/ralph-nightly.timer',
      'examples/nightly.sh',
      'examples/github-actions.yml',
    ]);
  });
});

describe('docs/settings.md', () => {
  const text = read('docs/settings.md');
  const rows = text.split('\n').filter((line) => line.startsWith('| '));

  test.for(settingNames())('has a row for %s', (name) => {
    const { flag, aliases = [], help } = SETTINGS[name];
    const row = rows.filter((line) => new RegExp(`\`${flag}[ \`]`).test(line));
    expect(row).toHaveLength(1);
    const words = [...aliases, variableOf(name) ?? '–', keyOf(name) ?? '–', help];
    for (const word of words) expect(row[0]).toContain(word);
  });

  // Written out here: this is what other systems call them.
  test.for([
    'enabled',
    'completion_signals',
    'circuit_breaker',
    'timeout_minutes',
    'check_interval_seconds',
    'completion_strategy',
    'completion_promise',
  ])('has a row for the key %s of other tools', (key) => {
    expect(rows.filter((line) => new RegExp(`^\\|.*\`${key}\`.*\\|.*\\|$`).test(line))).not.toEqual(
      [],
    );
  });

  test('names no key that is refused', () => {
    const [, further = ''] = text.split('Keys of other loop tools are understood:');
    const keys = [...further.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/\w+/g)].map(([key]) => key),
    );
    const all = [...keys, ...settingNames().flatMap((name) => keyOf(name) ?? []), 'task_types'];
    expect(keys.length).toBeGreaterThan(5);
    for (const key of all) {
      const file = '/ralph.config.yaml';
      const { problems } = readConfig({ file, text: `${key}: x\n`, wasFound: false });
      expect(problems.filter((problem) => problem.includes('is not a setting'))).toEqual([]);
    }
  });

  test('names the further variable, and the five that are no settings inside a loop', () => {
    for (const name of ['TIMEOUT_MINUTES', 'TASK_ID', 'ITERATION', 'STATE_FILE', 'RUN_ID']) {
      expect(text).toContain(`\`RALPH_${name}\``);
    }
  });

  test('shows configurations that are accepted', () => {
    const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) {
      const { layer, problems } = readConfig({ file: '/x.yaml', text: block, wasFound: false });
      expect([...problems, ...resolveSettings([layer]).problems]).toEqual([]);
    }
  });
});

const DOCS = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));

describe('links', () => {
  const files = [
    ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...DOCS.map((name) => join('docs', name)),
  ];

  test.for(files)('of %s lead to something', (file) => {
    const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    for (const link of links.filter((each) => !/^[a-z]+:/.test(each))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      expect({ link, isThere: existsSync(join(ROOT, target)) }).toEqual({ link, isThere: true });
      if (anchor !== undefined) expect(headings(read(target))).toContain(anchor);
    }
  });

  test('lead from the README to every document', () => {
    for (const name of DOCS) expect(read('README.md')).toContain(`(docs/${name})`);
  });
});

import { chmodSync, copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { shellWords } from '../../src/core/settings/shell-words.ts';
import { readWorkerPolicy } from '../../src/fleet/core/worker-policy.ts';
import { readAccountsFile } from '../../src/fleet/worker-files/accounts-file.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What the pages about a fleet and examples/fleet tell people.

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const WORKERS = read('docs/fleet-workers.md');
const OPERATING = read('docs/fleet-operating.md');

/** Returns what is in backticks in the first cells of the table below a heading. */
function firstCells(document: string, heading: string): readonly string[] {
  const [, section = ''] = document.split(`\n## ${heading}\n`);
  const [rows = ''] = section.split('\n## ');
  return [...rows.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

/** Returns the problems of a policy, or none. */
function problemsOf(data: unknown): readonly string[] {
  const found = readWorkerPolicy(data);
  return 'problems' in found ? found.problems : [];
}

describe('the pages about a fleet', () => {
  test('show the grants that are tried on a real server', () => {
    const grants = read('docs/fleet.sql').trimEnd();
    expect(OPERATING).toContain(`\`\`\`sql\n${grants}\n\`\`\``);
    expect(read('test/fleet/grants.test.ts')).toContain("'../../docs/fleet.sql'");
  });

  test('have a row for every key of a policy, and for no other', () => {
    const [problem = ''] = problemsOf({ 'no such key at all': 1 });
    const [, keys = ''] = /expected one of (.+)\.$/.exec(problem) ?? [];
    const known = keys.split(', ');
    expect(known.length).toBeGreaterThan(10);
    expect([...firstCells(WORKERS, 'The policy file')].sort()).toEqual([...known].sort());
  });

  test('have a row for every warning of ralph fleet status', () => {
    const [, cases = ''] = read('src/fleet/report/fleet-words.ts').split('fleetWarningText');
    const [body = ''] = cases.split('\nexport');
    const kinds = [...body.matchAll(/case '([\w-]+)'/g)].map(([, kind]) => kind);
    expect(kinds.length).toBeGreaterThan(5);
    const told = firstCells(OPERATING, 'Looking at a fleet').filter((name) => name !== 'kind');
    expect([...told].sort()).toEqual([...kinds].sort());
  });

  test('show an accounts file that a worker accepts', () => {
    const [, section = ''] = WORKERS.split('## The accounts file');
    const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
    expect(Object.keys(parse(block))).toEqual(['default', 'work']);
  });
});

describe('examples/fleet', () => {
  test('has a policy that a worker accepts', () => {
    const data: unknown = parse(read('examples/fleet/policy.yaml'));
    expect(problemsOf(data)).toEqual([]);
    expect(readWorkerPolicy(data)).toMatchObject({
      policy: { agents: ['claude'], maxIterations: 30, timeoutMs: 8 * 3_600_000 },
    });
  });

  test('has an accounts file that a worker accepts once it is private', async () => {
    const file = join(await tempFolder(), 'accounts.yaml');
    copyFileSync(join(ROOT, 'examples/fleet/accounts.yaml.example'), file);
    chmodSync(file, 0o600);
    expect([...readAccountsFile(file).keys()]).toEqual(['default', 'work']);
  });

  test('has containers that start the commands of ralph, built from files that are there', () => {
    const { services, volumes } = parse(read('examples/fleet/compose.yaml'), { merge: true });
    expect(Object.keys(services)).toEqual(['db', 'tables', 'worker']);
    expect(Object.keys(volumes)).toEqual(['db']);
    expect(services.tables.command).toEqual(['fleet', 'init']);
    for (const { build, environment } of [services.tables, services.worker]) {
      expect(existsSync(join(ROOT, 'examples/fleet', build.dockerfile))).toBe(true);
      expect(environment.RALPH_FLEET).toBe('postgres://ralph@db/fleet');
    }
    const image = read('examples/fleet/Containerfile');
    const [, copied = ''] = /^COPY --chmod=0644 (\S+) /m.exec(image) ?? [];
    expect(existsSync(join(ROOT, 'examples/fleet', copied))).toBe(true);
    const { peerDependencies } = JSON.parse(read('package.json'));
    expect(image).toContain(`pg-boss@${peerDependencies['pg-boss']}`);
  });

  test.for([
    ['Containerfile', /^CMD (.+)$/m, (text: string): readonly string[] => JSON.parse(text)],
    ['ralph-worker.service', /^ExecStart=\S+ (.+)$/m, (text: string) => shellWords(text) ?? []],
  ] as const)('%s starts a worker with flags that it has', ([name, line, words]) => {
    const [, command = ''] = line.exec(read(`examples/fleet/${name}`)) ?? [];
    const [verb, ...rest] = words(command);
    expect(verb).toBe('worker');
    const flags = rest.filter((word) => word.startsWith('--'));
    expect(flags).toContain('--policy');
    const declared = read('src/fleet/cli/commands/declare.ts');
    for (const flag of flags) expect(declared).toContain(`${flag} `);
  });
});

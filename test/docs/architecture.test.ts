import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// The lint configuration holds the same arrows while one types; this is the net below it, and it
// also knows what a linter of single statements cannot say.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

type Rule = {
  /** Rooms (folders) and files of src/, without their ending, that may be imported. */
  readonly rooms: readonly string[];
  /** Rooms of which only types may be imported. */
  readonly typesOnly?: readonly string[];
  /** Node's own modules and packages. */
  readonly outside: boolean;
};

const LEAVES = ['errors', 'exit-codes'];

/** Who may import whom. A room that is not listed here is refused. */
const ARROWS: Readonly<Record<string, Rule>> = {
  core: { rooms: ['core'], outside: false },
  loop: { rooms: ['loop', 'core'], outside: false },
  effects: { rooms: ['effects', 'loop/ports', 'core', ...LEAVES], outside: true },
  report: {
    // Where a text leaves ralph, it is made harmless.
    rooms: ['report', 'core/material', 'core/safe-json', ...LEAVES],
    typesOnly: ['core'],
    outside: true,
  },
  orchestrator: { rooms: ['orchestrator', 'loop', 'core', ...LEAVES], outside: true },
  service: {
    rooms: ['service', 'compose', 'orchestrator', 'loop', 'core', 'report', ...LEAVES],
    outside: true,
  },
  cli: {
    rooms: [
      'cli',
      'compose',
      'service',
      'orchestrator',
      'loop/run-loop',
      'loop/ports',
      'core',
      'report',
      ...LEAVES,
    ],
    outside: true,
  },
  compose: {
    rooms: ['compose', 'effects', 'orchestrator', 'loop', 'core', 'report', ...LEAVES],
    outside: true,
  },
  index: { rooms: ['service', 'loop/ports', 'core', ...LEAVES], outside: false },
  errors: { rooms: ['exit-codes'], typesOnly: ['core'], outside: false },
  'exit-codes': { rooms: [], typesOnly: ['core'], outside: false },
};

/** What would make core impure although nothing is imported. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\bprocess\.|\bglobalThis\b|\bset(?:Timeout|Interval|Immediate)\(|\bperformance\.|\bcrypto\./g;

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** The arrows that a file of src/ breaks, in words; empty if it breaks none. */
function violations(path: string, source: string): string[] {
  const room = path.replace(/\.ts$/, '').split('/')[0] ?? '';
  const rule = ARROWS[room];
  if (rule === undefined) return [`${path}: the room "${room}" has no rule`];
  const code = withoutComments(source);
  const found: string[] = [];

  for (const [, typeKeyword, fromStatement, fromCall] of code.matchAll(IMPORT)) {
    const target = fromStatement ?? fromCall ?? '';
    if (!target.startsWith('.')) {
      if (!rule.outside) found.push(`${path}: imports ${target}`);
      continue;
    }
    const resolved = posix.join(posix.dirname(path), target).replace(/\.ts$/, '');
    const reaches = (allowed: string) => resolved === allowed || resolved.startsWith(`${allowed}/`);
    if (rule.rooms.some(reaches)) continue;
    if (rule.typesOnly?.some(reaches)) {
      if (typeKeyword === undefined) found.push(`${path}: imports more than types of ${resolved}`);
      continue;
    }
    found.push(`${path}: imports ${resolved}`);
  }

  if (room === 'core') {
    for (const [impure] of code.matchAll(IMPURE)) found.push(`${path}: uses ${impure}`);
  }
  return found;
}

/** Comments may speak of a clock. Strings are matched too, so that `'//'` in one starts none. */
function withoutComments(source: string): string {
  return source.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, text?: string) => text ?? '',
  );
}

describe('the arrows of the house', () => {
  const src = join(root, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'));

  it('are kept by every file', () => {
    expect(files.length).toBeGreaterThan(0);
    const broken = files.flatMap((path) => violations(path, readFileSync(join(src, path), 'utf8')));
    expect(broken).toEqual([]);
  });

  it('let through what they allow', () => {
    const allowed: [path: string, source: string][] = [
      ['core/a.ts', "import { b } from './b.ts';\n// Date.now() is not ours to call\n"],
      ['core/a.ts', 'export const at = new Date(event.at);'],
      ['loop/run-loop.ts', "import { transition } from '../core/transition.ts';"],
      ['effects/a.ts', "import type { Clock } from '../loop/ports.ts';\nimport 'node:fs';"],
      ['report/a.ts', "import type {\n  TaskState,\n} from '../core/task-state.ts';"],
      ['cli/commands/run.ts', "const load = () => import('../../compose.ts');"],
      ['compose.ts', "export { a } from './effects/a.ts';"],
      ['compose/tasks.ts', "export { a } from '../effects/a.ts';"],
      ['cli/commands/stop.ts', "import { a } from '../../compose/tasks.ts';"],
    ];
    for (const [path, source] of allowed) expect(violations(path, source)).toEqual([]);
  });

  it.each([
    ['core/a.ts', "import { readFile } from 'node:fs';", 'imports node:fs'],
    ['core/a.ts', "import { z } from 'zod';", 'imports zod'],
    ['core/a.ts', "import {\n  a,\n  b,\n} from '../loop/ports.ts';", 'imports loop/ports'],
    ['core/a.ts', "import type { E } from '../errors.ts';", 'imports errors'],
    ['core/a.ts', 'const now = Date.now();', 'uses Date.now'],
    ['core/a.ts', 'const now = new Date();', 'uses new Date()'],
    ['core/a.ts', 'const dice = Math.random();', 'uses Math.random'],
    ['core/a.ts', 'const { pid } = process.env;', 'uses process.'],
    ['loop/a.ts', "import { e } from '../effects/state-file.ts';", 'imports effects/state-file'],
    ['loop/a.ts', "import { RalphError } from '../errors.ts';", 'imports errors'],
    ['effects/a.ts', "export * from '../loop/run-loop.ts';", 'imports loop/run-loop'],
    ['effects/a.ts', "import '../compose.ts';", 'imports compose'],
    ['effects/a.ts', "import '../compose/tasks.ts';", 'imports compose/tasks'],
    ['compose/tasks.ts', "import { a } from '../cli/place.ts';", 'imports cli/place'],
    ['report/a.ts', "import { s } from '../core/a.ts';", 'imports more than types of core/a'],
    ['cli/commands/a.ts', "import('../../effects/a.ts');", 'imports effects/a'],
    ['service/a.ts', "import { main } from '../cli/main.ts';", 'imports cli/main'],
    ['utils/a.ts', '', 'the room "utils" has no rule'],
  ])('catch a violation in %s: %s', (path, source, complaint) => {
    expect(violations(path, source)).toEqual([`${path}: ${complaint}`]);
  });
});

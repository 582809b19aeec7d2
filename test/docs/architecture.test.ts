import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

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

const LEAVES = ['errors', 'task-errors', 'exit-codes', 'printed-command'];
/** The table that says of each ending what it means. */
const ENDINGS = 'core/task/endings';

/** The wings that only read and write files: other layers may use them, too. */
const FILING = ['files', 'trust', 'lock', 'logs', 'state', 'vault', 'plan', 'claude', 'lists'].map(
  (wing) => `effects/${wing}`,
);
/** What else looks at the machine without starting an agent or a command of the user's. */
const LOOKING = [
  'effects/processes/ask-version',
  'effects/processes/signals',
  'effects/processes/find-program',
  'effects/git/git-probe',
];

/** Who may import whom. A room that is not listed here is refused. */
const ARROWS: Readonly<Record<string, Rule>> = {
  core: { rooms: ['core'], outside: false },
  loop: { rooms: ['loop', 'core'], outside: false },
  effects: { rooms: ['effects', 'loop/ports', 'core', ...LEAVES], outside: true },
  report: {
    // Text becomes harmless where it leaves ralph; what is said of an ending is in its row, and what an
    // agent's failure needs, with the agent.
    rooms: [
      ...['report', 'core/text/untrusted-text', 'core/text/safe-json', 'core/text/counted'],
      ...['core/agent/agents', ENDINGS, ...LEAVES],
    ],
    typesOnly: ['core'],
    outside: true,
  },
  rescue: { rooms: ['rescue', 'loop', 'core', ...LEAVES], outside: true },
  service: {
    rooms: [
      ...['service', 'compose', 'rescue', 'loop', 'core', 'report'],
      ...[...FILING, ...LOOKING, ...LEAVES],
    ],
    outside: true,
  },
  cli: {
    rooms: [
      ...['cli', 'compose', 'service', 'rescue', 'loop/run-loop', 'loop/ports', 'core', 'report'],
      // What commands do on a fleet; the rest of it only these know.
      ...['fleet/cli', ...FILING, ...LOOKING, ...LEAVES],
    ],
    outside: true,
  },
  compose: {
    rooms: ['compose', 'effects', 'rescue', 'loop', 'core', 'report', ...LEAVES],
    outside: true,
  },
  // The fleet is a house of its own: its rooms import what the rooms of the same kind outside do, and each other.
  'fleet/core': { rooms: ['fleet/core', 'core'], outside: false },
  'fleet/database': {
    rooms: ['fleet/database', 'fleet/core', 'effects', 'loop/ports', 'core', ...LEAVES],
    outside: true,
  },
  'fleet/origin': {
    rooms: [
      'fleet/origin',
      'fleet/database',
      'fleet/core',
      'effects',
      'loop/ports',
      'core',
      ...LEAVES,
    ],
    outside: true,
  },
  'fleet/worker-files': {
    rooms: ['fleet/core', 'effects', 'core', ...LEAVES, 'fleet/worker-files'],
    outside: true,
  },
  'fleet/leg': {
    rooms: ['fleet', 'compose', 'effects', 'loop', 'core', 'report', ...LEAVES],
    outside: true,
  },
  'fleet/worker': {
    rooms: ['fleet', 'compose', 'effects', 'loop', 'core', 'report', ...LEAVES],
    outside: true,
  },
  'fleet/report': {
    rooms: [
      ...['fleet/report', 'report', 'core/text/untrusted-text', 'core/text/safe-json'],
      ...['core/agent/agents', ENDINGS, ...LEAVES],
    ],
    typesOnly: ['fleet/core', 'core'],
    outside: true,
  },
  'fleet/cli': {
    rooms: [
      ...['fleet', 'cli', 'compose', 'loop/run-loop', 'loop/ports', 'core', 'report'],
      ...[...FILING, ...LOOKING, ...LEAVES],
    ],
    outside: true,
  },
  index: { rooms: ['service', 'loop/ports', 'core', ...LEAVES], outside: false },
  errors: { rooms: ['exit-codes', 'printed-command'], typesOnly: ['core'], outside: false },
  'task-errors': { rooms: ['exit-codes', 'printed-command'], outside: false },
  'printed-command': { rooms: [], outside: false },
  'exit-codes': { rooms: [ENDINGS], typesOnly: ['core'], outside: false },
};

/**
 * The wings of each layer with what lives in them, from the lowest: a wing imports only those above it in
 * this list. CONTRIBUTING.md shows the same list to people.
 */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  core: [
    ...[
      'text',
      'secrets',
      'agent',
      'agent/agents',
      'sandbox',
      'settings/rows',
      'settings',
      'supervisor',
      'task',
      'markdown',
      'judge',
    ],
    ...[
      'proof',
      'proof/deciders',
      'completion',
      'completion/conditions',
      'completion/claims',
      'prompt',
      'policy',
      'snapshots',
      'machine',
      'rescue',
      'list',
    ],
  ],
  effects: [
    ...[
      'time',
      'files',
      'trust',
      'processes',
      'lock',
      'logs',
      'git/call',
      'git',
      'git/questions',
      'workspace',
      'snapshots',
      'snapshots/restore',
      'snapshots/keeper',
      'branches',
      'branches/commit',
      'proof/exam',
      'proof',
    ],
    ...['state', 'vault', 'lists', 'plan', 'sandbox/repositories', 'sandbox', 'agents', 'claude'],
  ],
  compose: ['sandbox', 'proof', 'judge', '.', 'resume', 'rescue', 'git-commands', 'lists'],
  fleet: [
    ...['core', 'worker-files', 'database', 'origin', 'leg', 'worker', 'report'],
    ...['cli', 'cli/submit', 'cli/commands'],
  ],
  report: ['.', 'terminal', 'screens', 'notes', 'briefing', 'briefing/html'],
  cli: [
    'completion',
    'flags',
    'terminal',
    'settings',
    'tasks',
    'run',
    'commands',
    'commands/installation',
    'commands/git',
    'commands/lists',
    '.',
  ],
};

/** The packages that compute and do nothing else. */
const PURE_PACKAGES = ['jsonc-parser'];

/** No folder has more files than a person takes in at a glance. */
const MOST_FILES = 20;

/** What would make core impure although nothing is imported. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\bprocess\.|\bglobalThis\b|\bset(?:Timeout|Interval|Immediate)\(|\bperformance\.|\bcrypto\./g;

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

/** The arrows that a file of src/ breaks, in words; empty if it breaks none. */
function violations(path: string, source: string): string[] {
  const [first = '', second] = path.replace(/\.ts$/, '').split('/');
  const room = first === 'fleet' ? `${first}/${second}` : first;
  const rule = ARROWS[room];
  if (rule === undefined) return [`${path}: the room "${room}" has no rule`];
  const code = withoutComments(source);
  const found: string[] = [];

  for (const [, typeKeyword, fromStatement, fromCall] of code.matchAll(IMPORT)) {
    const target = fromStatement ?? fromCall ?? '';
    if (!target.startsWith('.')) {
      const isAllowed = rule.outside || PURE_PACKAGES.includes(target);
      if (!isAllowed) found.push(`${path}: imports ${target}`);
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

  if (room === 'core' || room === 'fleet/core') {
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

  test('are kept by every file', () => {
    expect(files.length).toBeGreaterThan(0);
    const broken = files.flatMap((path) => violations(path, readFileSync(join(src, path), 'utf8')));
    expect(broken).toEqual([]);
  });

  test('let through what they allow', () => {
    const allowed: [path: string, source: string][] = [
      ['core/task/a.ts', "import { b } from './b.ts';\n// Date.now() is not ours to call\n"],
      ['core/task/a.ts', 'export const at = new Date(event.at);'],
      ['core/list/a.ts', "import { visit } from 'jsonc-parser';"],
      ['loop/run-loop.ts', "import { transition } from '../core/machine/transition.ts';"],
      ['effects/time/a.ts', "import type { Clock } from '../../loop/ports.ts';\nimport 'node:fs';"],
      ['report/a.ts', "import type {\n  TaskState,\n} from '../core/task/task-state.ts';"],
      ['cli/commands/run.ts', "const load = () => import('../../compose/run.ts');"],
      ['cli/commands/stop.ts', "import { a } from '../../effects/state/requests.ts';"],
    ];
    for (const [path, source] of allowed) expect(violations(path, source)).toEqual([]);
  });

  test.for([
    ['core/a.ts', "import { readFile } from 'node:fs';", 'imports node:fs'],
    ['core/a.ts', "import { z } from 'zod';", 'imports zod'],
    ['core/a.ts', "import {\n  a,\n  b,\n} from '../loop/ports.ts';", 'imports loop/ports'],
    ['core/a.ts', "import type { E } from '../errors.ts';", 'imports errors'],
    ['core/a.ts', 'const now = Date.now();', 'uses Date.now'],
    ['core/a.ts', 'const now = new Date();', 'uses new Date()'],
    ['core/a.ts', 'const dice = Math.random();', 'uses Math.random'],
    ['core/a.ts', 'const { pid } = process.env;', 'uses process.'],
    ['loop/a.ts', "import { e } from '../effects/state/a.ts';", 'imports effects/state/a'],
    ['loop/a.ts', "import { RalphError } from '../errors.ts';", 'imports errors'],
    ['effects/a.ts', "export * from '../loop/run-loop.ts';", 'imports loop/run-loop'],
    ['effects/a.ts', "import '../compose/run.ts';", 'imports compose/run'],
    ['compose/a.ts', "import { a } from '../cli/place.ts';", 'imports cli/place'],
    ['report/a.ts', "import { s } from '../core/a.ts';", 'imports more than types of core/a'],
    ['cli/commands/a.ts', "import('../../effects/agents/a.ts');", 'imports effects/agents/a'],
    ['service/a.ts', "import '../effects/workspace/a.ts';", 'imports effects/workspace/a'],
    ['service/a.ts', "import { main } from '../cli/main.ts';", 'imports cli/main'],
    ['fleet/core/a.ts', 'const now = Date.now();', 'uses Date.now'],
    ['compose/a.ts', "import '../fleet/leg/a.ts';", 'imports fleet/leg/a'],
    ['cli/commands/a.ts', "import '../../fleet/core/a.ts';", 'imports fleet/core/a'],
    ['utils/a.ts', '', 'the room "utils" has no rule'],
  ] as const)('catch a violation in %s: %s', ([path, source, complaint]) => {
    expect(violations(path, source)).toEqual([`${path}: ${complaint}`]);
  });
});

describe('the wings of the house', () => {
  const src = join(root, 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'));
  const folders = [...new Set(files.map((path) => posix.dirname(path)))];
  const importsOf = (path: string): string[] =>
    [...withoutComments(readFileSync(join(src, path), 'utf8')).matchAll(IMPORT)]
      .map(([, , fromStatement, fromCall]) => fromStatement ?? fromCall ?? '')
      .filter((target) => target.startsWith('.'))
      .map((target) => posix.join(posix.dirname(path), target));

  test('are all listed', () => {
    for (const [layer, wings] of Object.entries(WINGS)) {
      const inLayer = folders.filter((each) => each === layer || each.startsWith(`${layer}/`));
      expect(inLayer.toSorted()).toEqual(wings.map((wing) => posix.join(layer, wing)).toSorted());
    }
  });

  test('have no more files than a person takes in at a glance', () => {
    const sizes = folders.map(
      (folder) => [folder, files.filter((path) => posix.dirname(path) === folder).length] as const,
    );
    expect(sizes.filter(([, size]) => size > MOST_FILES)).toEqual([]);
  });

  test.for(Object.entries(WINGS))('%s: import only what is below them', ([layer, wings]) => {
    const floorOf = (path: string): number =>
      wings.findIndex((wing) => posix.join(layer, wing) === posix.dirname(path));
    const upward = files
      .filter((path) => floorOf(path) !== -1)
      .flatMap((path) =>
        importsOf(path)
          .filter((target) => floorOf(target) > floorOf(path))
          .map((target) => `${path} imports ${target}`),
      );
    expect(upward).toEqual([]);
  });

  test('export each name once, so that it means one thing', () => {
    const EXPORT =
      /^export (?:async )?(?:function\*?|const|let|(?:abstract )?class|interface|type|enum) (\w+)/gm;
    const places = new Map<string, readonly string[]>();
    for (const path of files) {
      const names = readFileSync(join(src, path), 'utf8').matchAll(EXPORT);
      for (const name of new Set([...names].map(([, each = '']) => each))) {
        places.set(name, [...(places.get(name) ?? []), path]);
      }
    }
    expect(places.size).toBeGreaterThan(1_000);
    expect([...places].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  test('have no circle of files', () => {
    const targets = new Map(files.map((path) => [path, importsOf(path)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
      if (done.has(path) || way.includes(path)) return;
      for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
      done.add(path);
    };
    for (const path of files) visit(path, []);
    expect(circles).toEqual([]);
  });

  test('are each explained in CONTRIBUTING.md', () => {
    const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    for (const folder of folders) {
      if (folder !== '.')
        expect(guide).toMatch(new RegExp(`^\\| \`${folder}\` \\| .{15,} \\|$`, 'm'));
    }
  });
});

describe('the command git', () => {
  const src = join(root, 'src');
  const outside = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('effects/git/'))
    .map((path) => [path, withoutComments(readFileSync(join(src, path), 'utf8'))] as const);

  test('is started, and its output is read, only in effects/git', () => {
    const starting = outside.filter(([, code]) =>
      [...code.matchAll(IMPORT)].some(([, , target = '']) => target.includes('/git/call/')),
    );
    expect(starting.map(([path]) => path)).toEqual([]);
  });

  test('is told nothing in its own words by others', () => {
    const telling = outside.filter(([, code]) => GIT_WORDS.test(code));
    expect(telling.map(([path]) => path)).toEqual([]);
  });
});

/** Commands of git, as they stand in its arguments. */
const GIT_WORDS =
  /['"](?:cat-file|check-(?:attr|ignore|ref-format)|checkout-index|commit-tree|diff-(?:files|index|tree)|for-each-ref|hash-object|ls-(?:files|remote|tree)|merge-base|(?:read|write)-tree|rev-(?:list|parse)|show-ref|symbolic-ref|update-(?:index|ref))['"]/;

describe('the recipes of CONTRIBUTING.md', () => {
  const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const recipes = guide.slice(guide.indexOf('## Recipes'), guide.indexOf('## Habits'));
  const named = [...recipes.matchAll(/`((?:src|test|docs)\/[^`]*|README\.md)`/g)].map(
    ([, path = '']) => path,
  );

  test('name only files and folders that are there', () => {
    expect(named.length).toBeGreaterThan(30);
    const missing = named.filter((path) => !path.includes('NAME') && !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  test('put what is new into folders that are there', () => {
    const fresh = named.filter((path) => path.includes('NAME'));
    expect(fresh.length).toBeGreaterThan(3);
    expect(fresh.filter((path) => !existsSync(join(root, dirname(path))))).toEqual([]);
  });
});

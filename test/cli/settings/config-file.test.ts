import { describe, expect, test } from 'vitest';
import { type ConfigSettings, readConfig } from '../../../src/cli/settings/config-file.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { keyOf, type SettingName } from '../../../src/core/settings/settings.ts';

function read(text: string, file = '/project/ralph.config.yaml'): ConfigSettings {
  return readConfig({ file, text, wasFound: false });
}

/** What comes of a file in which nothing is wrong. */
function settingsOf(text: string) {
  const { layer, problems } = read(text);
  const resolved = resolveSettings([layer]);
  expect([...problems, ...resolved.problems]).toEqual([]);
  return resolved.settings;
}

/** What a setting is written as, by its name. */
function valuesOf({ layer }: ConfigSettings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(layer).map(([name, written]) => [name, written?.value] as const),
  );
}

describe('a file with nothing in it', () => {
  test.for([
    '',
    '\n\n',
    '# max_iterations: 10\n',
    '---\n',
    'null\n',
    '{}',
    'ralph:\n',
    'ralph: {}',
  ])('sets nothing: %j', (text) => {
    expect(read(text)).toMatchObject({ layer: {}, taskTypes: {}, problems: [] });
  });
});

describe('problems', () => {
  test('are all reported at once, with file and line, for values and for keys', () => {
    const text = `# a comment

max_iterations: 10
max_iteration: 3
promise: DONE
allowed_tool:
  - Edit
contextchars: 9
xyzzy_plugh: 1
task_types:
  nightly:
    max_iteration: 3
    timeout: soon
`;
    const { layer, problems } = read(text, '/some/where/ralph.config.yml');
    expect(problems).toEqual([
      'ralph.config.yml:4 max_iteration is not a setting of ralph; did you mean max_iterations?',
      'ralph.config.yml:6 allowed_tool is not a setting of ralph; did you mean allowed_tools?',
      'ralph.config.yml:8 contextchars is not a setting of ralph; did you mean context_chars?',
      'ralph.config.yml:9 xyzzy_plugh is not a setting of ralph',
      'ralph.config.yml:12 task_types.nightly.max_iteration is not a setting of ralph; did you mean max_iterations?',
      "ralph.config.yml:13 task_types.nightly.timeout expects a duration such as 500ms, 90s, 30m or 1h30m, more than 0; found 'soon'.",
    ]);
    // What is right is read all the same.
    expect(layer.maxIterations).toEqual({
      value: 10,
      source: { kind: 'config', where: 'ralph.config.yml:3 max_iterations' },
    });
    expect(layer.promise?.source.where).toBe('ralph.config.yml:5 promise');
  });

  test.for<[SettingName, string, string]>([
    ['maxIterations', 'ten', "a whole number, at least 1; found 'ten'"],
    ['maxIterations', '0', 'a whole number, at least 1; found 0'],
    ['maxIterations', '1.5', 'a whole number, at least 1; found 1.5'],
    ['maxIterations', '', 'a whole number, at least 1; found null'],
    ['maxIterations', '[3]', 'a whole number, at least 1; found [3]'],
    ['timeout', '30', 'a duration such as 500ms, 90s, 30m or 1h30m, more than 0; found 30'],
    ['delay', '{a: 1}', 'a duration such as 500ms, 90s, 30m or 1h30m; found {"a":1}'],
    ['quiet', 'perhaps', "true or false; found 'perhaps'"],
    [
      'match',
      'Statement',
      "one of statement, tag, contains; found 'Statement' (did you mean statement?)",
    ],
    ['model', '4', 'text, or AGENT=TEXT for each agent; found 4'],
    ['model', '{claud: opus}', 'text, or AGENT=TEXT for each agent; found {"claud":"opus"}'],
    [
      'agent',
      '[claude, codx]',
      'one of claude, codex, gemini, opencode, qwen, copilot, command, or several with commas between them; found ["claude","codx"] (did you mean codex?)',
    ],
    ['prompt', 'true', 'text; found true'],
    ['allowedTools', '[Edit, 3]', 'text, or a list of texts; found ["Edit",3]'],
    ['logLimit', 'much', "a size such as 64KB, 500MB or 1GB; found 'much'"],
  ])('of a bad %s: %s', ([name, value, said]) => {
    const key = keyOf(name);
    const { problems } = resolveSettings([read(`\n${key}: ${value}\n`).layer]);
    expect(problems).toEqual([`ralph.config.yaml:2 ${key} expects ${said}.`]);
  });

  test.for(['task_id', 'config'])('%s is a flag only', (key) => {
    expect(read(`${key}: x\n`).problems).toEqual([
      expect.stringContaining(`:1 ${key} is not a setting of ralph`),
    ]);
  });

  test.for(['constructor', 'toString', '__proto__', 'hasOwnProperty', '3', 'null', '~'])(
    '%s is a key like any other that is unknown',
    (key) => {
      const { layer, problems } = read(`${key}: 1\ntask_types: { nightly: { ${key}: 1 } }\n`);
      expect(problems).toHaveLength(2);
      expect(problems[0]).toMatch(/^ralph\.config\.yaml:1 .*is not a setting of ralph/);
      expect(problems[1]).toMatch(/:2 task_types\.nightly\..*is not a setting of ralph/);
      expect(layer).toEqual({});
    },
  );
});

describe('values', () => {
  test('may be written as YAML writes them, or as on the command line', () => {
    expect(
      settingsOf(`
max_iterations: "10"
retries: 0
max_wait: 0
delay: 1m30s
quiet: yes
no_color: true
watch_glob: "*.md"
allowed_tools: [Edit, "Bash(npm test:*)"]
log_limit: 64KB
prompt: |
  First line.
  Second line.
`),
    ).toMatchObject({
      maxIterations: 10,
      retries: 0,
      maxWait: 0,
      delay: 90_000,
      quiet: true,
      noColor: true,
      watchGlob: ['*.md'],
      allowedTools: ['Edit', 'Bash(npm test:*)'],
      logLimit: 65_536,
      prompt: 'First line.\nSecond line.\n',
    });
  });

  test('may be JSON', () => {
    const { layer, problems } = read(
      '{\n\t"max_iterations": 7,\n\t"nonsense": 1,\n\t"allowed_tools": ["Edit"]\n}\n',
      '/project/ralph.config.json',
    );
    expect(problems).toEqual(['ralph.config.json:3 nonsense is not a setting of ralph']);
    expect(layer.maxIterations?.source.where).toBe('ralph.config.json:2 max_iterations');
    expect(layer.allowedTools?.value).toEqual(['Edit']);
  });

  test('may come with a byte order mark and the line ends of Windows', () => {
    const { layer, problems } = read('\uFEFFretries: 1\r\nmax_iterations: 3\r\n');
    expect(problems).toEqual([]);
    expect(layer.maxIterations?.source.where).toBe('ralph.config.yaml:2 max_iterations');
  });
});

describe('a section ralph:', () => {
  test('is the only part that is read; all other keys belong to other programs', () => {
    const { problems, ...all } = read(
      'database: { max_iterations: [] }\nralph:\n  max_iterations: 4\nlogging: 3\n',
    );
    expect(problems).toEqual([]);
    expect(valuesOf({ problems, ...all })).toEqual({ maxIterations: 4 });
  });

  test('is checked like a whole file', () => {
    expect(read('other: 1\nralph:\n  max_iteration: 4\n').problems).toEqual([
      'ralph.config.yaml:3 max_iteration is not a setting of ralph; did you mean max_iterations?',
    ]);
  });

  test.for(['yes', '3', '[max_iterations]'])('has keys and values below it: %s', (value) => {
    expect(read(`ralph: ${value}\n`).problems).toEqual([
      'ralph.config.yaml:1 ralph expects keys and values below it.',
    ]);
  });
});

describe('the keys of other documents', () => {
  test('a configuration of completion signals and a circuit breaker is accepted unchanged', () => {
    const all = read(`ralph:
  enabled: true
  max_iterations: 10
  completion_signals:
    - "TASK_COMPLETE"
    - "All tests passing"
    - "Ready for review"
  circuit_breaker:
    no_progress_limit: 3
    same_error_limit: 5
`);
    expect(all.problems).toEqual([]);
    expect(resolveSettings([all.layer]).problems).toEqual([]);
    expect(valuesOf(all)).toEqual({
      maxIterations: 10,
      signal: ['TASK_COMPLETE', 'All tests passing', 'Ready for review'],
      noProgressLimit: 3,
      sameErrorLimit: 5,
    });
    expect(all.layer.sameErrorLimit?.source.where).toBe(
      'ralph.config.yaml:10 circuit_breaker.same_error_limit',
    );
  });

  test('a configuration of minutes, seconds and folders is understood', () => {
    const text = `max_iterations: 10
timeout_minutes: 30
state_dir: Ralph_State
done_folder: /Vault/Done
check_interval_seconds: 5
completion_strategy: file_movement
completion_promise: TASK_COMPLETE
`;
    expect(settingsOf(text)).toMatchObject({
      maxIterations: 10,
      timeout: 1_800_000,
      stateDir: 'Ralph_State',
      doneFolder: '/Vault/Done',
      delay: 5_000,
      promise: 'TASK_COMPLETE',
    });
    expect(read(text).layer.timeout?.source.where).toBe('ralph.config.yaml:2 timeout_minutes');
  });

  test('problems in them are reported like all others', () => {
    const { layer, problems } = read(`timeout_minutes: half
completion_strategy: hope
enabled: perhaps
circuit_breaker:
  no_progres_limit: 3
`);
    expect(problems).toEqual([
      'ralph.config.yaml:2 completion_strategy expects promise or file_movement; found "hope".',
      'ralph.config.yaml:3 enabled expects true or false; found "perhaps".',
      'ralph.config.yaml:5 circuit_breaker.no_progres_limit is not a setting of ralph; did you mean no_progress_limit?',
    ]);
    expect(resolveSettings([layer]).problems).toEqual([
      expect.stringMatching(/^ralph\.config\.yaml:1 timeout_minutes expects .*found 'half'/),
    ]);
  });

  test.for(['3', '[no_progress_limit]', ''])('a circuit breaker has its limits: %j', (value) => {
    expect(read(`circuit_breaker: ${value}\n`).problems).toEqual([
      'ralph.config.yaml:1 circuit_breaker expects limits such as "no_progress_limit: 3".',
    ]);
  });

  test('enabled: false turns ralph off, and says so', () => {
    expect(read('enabled: false\n').problems).toEqual([
      'ralph.config.yaml:1 enabled is false: ralph is turned off here; set it to true to run.',
    ]);
  });

  test.for([
    ['promise: a\ncompletion_promise: b\n', 'completion_promise', 'promise'],
    ['timeout_minutes: 5\ntimeout: soon\n', 'timeout', 'timeout_minutes'],
    [
      'no_progress_limit: 5\ncircuit_breaker: { no_progress_limit: 3 }\n',
      'circuit_breaker.no_progress_limit',
      'no_progress_limit',
    ],
  ] as const)('one setting under two names is refused: %j', ([text, second, first]) => {
    expect(read(text).problems).toEqual([
      `ralph.config.yaml:2 ${second} is already set by ralph.config.yaml:1 ${first}.`,
    ]);
  });
});

describe('the table of task types', () => {
  test('gives each its limits, as they are written', () => {
    const { taskTypes, problems } = read(
      'task_types:\n  nightly: { max_iterations: 50, iteration_timeout: 45m, timeout: 10h }\n  bare: {}\n',
    );
    expect(problems).toEqual([]);
    expect(taskTypes).toEqual({
      nightly: { maxIterations: '50', iterationTimeout: '45m', timeout: '10h' },
      bare: {},
    });
  });

  test.for([
    ['task_types: coding\n', /:1 task_types expects a table of task types/],
    ['task_types:\n', /:1 task_types expects a table of task types/],
    ['task_types: { nightly: 5 }\n', /:1 task_types\.nightly expects limits such as/],
    ['task_types: { nightly: { max_iterations: 0 } }\n', /at least 1; found 0/],
    ['task_types: { nightly: { delay: 5s } }\n', /task_types\.nightly\.delay is not a setting/],
  ] as const)('is checked: %j', ([text, said]) => {
    const { problems } = read(text);
    expect(problems).toEqual([expect.stringMatching(said)]);
  });

  test.for(['payment', 'Payments', 'vendor_payment', 'make-payment', '"payment run"'])(
    'defines no payment: %s',
    (type) => {
      const { taskTypes, problems } = read(`task_types:\n  ${type}: { max_iterations: 3 }\n`);
      expect(problems).toEqual([
        expect.stringMatching(/:2 task_types\..* ralph never automates payments/),
      ]);
      expect(taskTypes).toEqual({});
    },
  );
});

describe('YAML', () => {
  test.for([
    ['retries: 1\nmax_iterations: [1\n', /^ralph\.config\.yaml:3 is not valid YAML: .+\.$/],
    ['retries: 1\nprompt: "half\n', /^ralph\.config\.yaml:3 is not valid YAML: .+\.$/],
    ['retries: 1\n\tdelay: 1s\n', /^ralph\.config\.yaml:2 is not valid YAML: .+\.$/],
    ['retries: 1\ndelay: 1s\nretries: 2\n', /:3 is not valid YAML: Map keys must be unique\.$/],
    ['{"retries": 1, "retries": 2}', /:1 is not valid YAML: Map keys must be unique\.$/],
    ['retries: 1\n---\nretries: 2\n', /is not valid YAML: .*multiple documents/],
  ] as const)('that is invalid is refused with its line: %j', ([text, said]) => {
    const { layer, problems } = read(text);
    expect(problems[0]).toMatch(said);
    expect(layer).toEqual({});
  });

  test.for(['- max_iterations: 10\n', 'max_iterations\n', '[]', '3', '"text"'])(
    'that is no table is refused: %j',
    (text) => {
      expect(read(text).problems).toEqual([
        'ralph.config.yaml:1 expects keys and values, such as "max_iterations: 10".',
      ]);
    },
  );

  test('an alias stands for its value', () => {
    const text = 'max_iterations: &n 3\nretries: *n\nallowed_tools: [&e Edit, *e]\n';
    expect(settingsOf(text)).toMatchObject({
      maxIterations: 3,
      retries: 3,
      allowedTools: ['Edit', 'Edit'],
    });
  });

  test('an alias without an anchor is a problem, reported with its line', () => {
    const { layer, problems } = read('retries: 1\ndelay: *pause\n');
    expect(problems).toEqual([expect.stringMatching(/^ralph\.config\.yaml:2 delay: .*pause\.$/)]);
    expect(valuesOf({ layer, problems, taskTypes: {}, vault: {} })).toEqual({
      retries: 1,
    });
  });

  test('merge keys are not settings', () => {
    const { layer, problems } = read('ralph:\n  <<: { dangerously_skip_permissions: true }\n');
    expect(problems).toEqual(['ralph.config.yaml:2 << is not a setting of ralph']);
    expect(layer).toEqual({});
  });

  test('a tag does not turn a text into anything else', () => {
    const { layer } = read('model: !!js/function "function () {}"\nprompt: !env HOME\n');
    expect(layer.model?.value).toBe('function () {}');
    expect(layer.prompt?.value).toBe('HOME');
  });

  test('a few lines that expand to gigabytes are refused', () => {
    const letters = 'abcdefghijkl'.split('');
    const lines = letters.map((letter, index) => {
      const inner = index === 0 ? 'x' : `*${letters[index - 1]}`;
      return `  - &${letter} [${Array(9).fill(inner).join(', ')}]`;
    });
    const { problems } = read(`retries: 1\nallowed_tools:\n${lines.join('\n')}\n`);
    expect(problems).toEqual([
      expect.stringMatching(/^ralph\.config\.yaml:2 allowed_tools: Excessive alias count/),
    ]);
  });

  test('an alias that refers to itself is refused', () => {
    const { problems } = read('allowed_tools: &all [Edit, *all]\n');
    expect(problems).toEqual([
      expect.stringMatching(/:1 allowed_tools: an alias refers to itself/),
    ]);
  });

  test.for([
    ['brackets', `allowed_tools: ${'['.repeat(60_000)}`],
    ['brackets that are closed', `verify: ${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['lists', `verify:\n  ${'- '.repeat(30_000)}x`],
    ['keys of keys', `${'? '.repeat(1_000)}x`],
    ['tables in a table', `{${'a: '.repeat(20_000)}1}`],
    ['21 levels', `verify: ${'['.repeat(21)}${']'.repeat(21)}`],
  ] as const)('extremely deep nesting is a problem, not a crash: %s', ([, text]) => {
    const problem = 'ralph.config.yaml cannot be read: it is nested deeper than 20 levels.';
    expect(read(text).problems).toEqual([problem]);
  });

  test('a long list, a long table and a text full of brackets do not count as nesting', () => {
    const prompt = '- [ ] {"a": [1, 2]} ? x: y - z\n    '.repeat(500);
    const globs = Array.from({ length: 500 }, (_, n) => `"f${n}/[ab].md"`).join(', ');
    const types = Array.from({ length: 200 }, (_, n) => `t${n}: {max_iterations: 2}`).join(', ');
    const text = `prompt: |\n    ${prompt}\nwatch_glob: [${globs}]\ntask_types: {${types}}\n`;
    expect(read(text).problems).toEqual([]);
  });
});

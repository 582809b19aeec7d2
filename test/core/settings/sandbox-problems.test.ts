import { expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { sandboxProblems } from '../../../src/core/settings/sandbox-problems.ts';
import { type Layer, layerOf } from '../../../src/core/settings/setting-source.ts';
import { SETTINGS, type SettingName } from '../../../src/core/settings/settings.ts';

type Values = Partial<Record<SettingName, unknown>>;

function flags(values: Values): Layer {
  return layerOf(values, (name) => ({ kind: 'flag', where: SETTINGS[name].flag }));
}

function config(values: Values): Layer {
  return layerOf(values, (name) => ({ kind: 'config', where: `ralph.config.yaml ${name}` }));
}

function problems(...layers: readonly Layer[]): readonly string[] {
  return sandboxProblems(resolveSettings(layers));
}

test.for([
  'registry.example.org',
  'registry.example.org:443',
  '*.example.com',
  '*.example.com:8443',
  'localhost:11434',
  '127.0.0.1:8080',
  '[::1]:8080',
])('%s is a host', (allowNet) => {
  expect(problems(flags({ sandbox: true, allowNet }))).toEqual([]);
});

test.for(['*', '*:443'])('%s is every host, which no flag allows', (allowNet) => {
  expect(problems(flags({ sandbox: true, allowNet }))).toEqual([
    `--allow-net '${allowNet}' would allow every host: name the hosts, such as api.example.com or *.example.com.`,
  ]);
});

test.for([
  'https://example.com',
  'example.com/path',
  'example.com:0',
  'example.com:70000',
  'example.com:',
  '*.com',
  '*.*',
  'a*.example.com',
  'two words',
  '',
])("'%s' is no host", (allowNet) => {
  expect(problems(flags({ sandbox: true, allowNet }))).toEqual([
    expect.stringMatching(/^--allow-net '.*' is (?:no host|too wide): /),
  ]);
});

test('names of variables are looked at, too', () => {
  expect(problems(flags({ sandbox: true, keepEnv: 'A=b' }))).toEqual([
    "--keep-env expects the name of a variable; found 'A=b'.",
  ]);
});

test('what runs in the background cannot stay, since everything ends with the agent', () => {
  expect(problems(flags({ sandbox: true, keepBackground: true }))).toEqual([
    '--keep-background cannot be kept with --sandbox: everything in it ends with the agent.',
  ]);
  expect(problems(flags({ keepBackground: true }))).toEqual([]);
});

test('a rule as a flag needs the sandbox; in a configuration for many tasks it may wait for it', () => {
  expect(problems(flags({ allowNet: 'a.example.com', allowUnixSockets: true }))).toEqual([
    '--allow-net needs --sandbox, and it was not given.',
    '--allow-unix-sockets needs --sandbox, and it was not given.',
  ]);
  const rules = { allowNet: 'a.example.com', sandboxChecks: false };
  expect(problems(config(rules))).toEqual([]);
  expect(problems(flags({ allowWrite: 'out' }), config({ sandbox: true }))).toEqual([]);
});

test('--no-sandbox over a configuration turns it off, and its rules are no mistake', () => {
  const both = [flags({ sandbox: false }), config({ sandbox: true, allowNet: 'a.example.com' })];
  expect(resolveSettings(both).settings.sandbox).toBe(false);
  expect(problems(...both)).toEqual([]);
  // As with a resume, whose task was started with these flags.
  expect(problems(flags({ sandbox: false, allowNet: 'a.example.com' }))).toEqual([]);
});

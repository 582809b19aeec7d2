import path from 'node:path';
import { expect, test } from 'vitest';
import { withNarrowerSandbox } from '../../../src/core/rescue/narrower-sandbox.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { layerOf } from '../../../src/core/settings/setting-source.ts';
import type { SettingName, Settings } from '../../../src/core/settings/settings.ts';

type Values = Partial<Record<SettingName, unknown>>;

/** The settings of a task that a pass resumes, if each was given these. */
function narrowed(task: Values, pass: Values): Settings {
  const [own, bound] = [task, pass].map((values) =>
    resolveSettings([layerOf(values, (name) => ({ kind: 'flag', where: name }))]),
  );
  if (own === undefined || bound === undefined) throw new Error('two sets were given');
  return withNarrowerSandbox(own, bound, (value) => path.resolve('/w', value)).settings;
}

const ON = { sandbox: true };

test.for<[task: Values, pass: Values, isOn: boolean]>([
  [{}, {}, false],
  [ON, {}, true],
  [ON, { sandbox: false }, true],
  [{}, ON, true],
  [{ sandbox: false }, ON, true],
  [ON, ON, true],
])('task %j, pass %j: on is %j', ([task, pass, isOn]) => {
  expect(narrowed(task, pass).sandbox === true).toBe(isOn);
});

test('the rules are those of the one that has it on', () => {
  const rules = { allowNet: ['a.example.com'], denyRead: ['~'], sandboxChecks: false };
  expect(narrowed({ ...ON, ...rules }, {})).toMatchObject(rules);
  expect(narrowed({ allowNet: 'b.example.com' }, { ...ON, ...rules })).toMatchObject(rules);
});

test('where both have it on, only what both allow is allowed, and what one denies is denied', () => {
  const task = {
    ...ON,
    allowWrite: ['/a', '/b/c', '/d'],
    allowNet: ['*.example.com', 'x.org:443', 'y.org'],
    denyRead: ['/one'],
    keepEnv: ['A', 'B'],
    allowUnixSockets: true,
    sandboxChecks: false,
  };
  const pass = {
    ...ON,
    allowWrite: ['/a', '/b', '/d/e'],
    allowNet: ['api.example.com', 'x.org', 'y.org:80', 'z.org'],
    denyRead: ['/one', '/two'],
    keepEnv: ['B', 'C'],
  };
  expect(narrowed(task, pass)).toMatchObject({
    allowWrite: ['/a', '/b/c', '/d/e'],
    allowNet: ['x.org:443', 'api.example.com', 'y.org:80'],
    allowRead: [],
    denyRead: ['/one', '/two'],
    keepEnv: ['B'],
    allowUnixSockets: false,
    sandboxChecks: true,
  });
});

test.for<[task: string, pass: string]>([
  ['/a/../etc', '/a'],
  ['/ab', '/a'],
  ['example.com', '*.example.com'],
  ['badexample.com', '*.example.com'],
  ['x.org', 'x.org:443'],
  ['x.org:80', 'x.org:443'],
])('%s does not lie within %s', ([task, pass]) => {
  const name = task.startsWith('/') ? 'allowWrite' : 'allowNet';
  const allowed = narrowed({ ...ON, [name]: [task] }, { ...ON, [name]: [pass] })[name];
  expect(allowed).not.toContain(task);
});

test.for<[task: string, pass: string, both: string]>([
  ['a/../../etc', 'a', ''],
  ['out', '/w/out', 'out'],
  ['/w/out/deep', 'out', '/w/out/deep'],
  ['.', 'out/../in', 'out/../in'],
  ['../w/x/', 'x', '../w/x/'],
])('the paths %s and %s mean what they mean in the work folder', ([task, pass, both]) => {
  for (const name of ['allowWrite', 'allowRead'] as const) {
    const allowed = narrowed({ ...ON, [name]: [task] }, { ...ON, [name]: [pass] })[name];
    expect(allowed.join(' ')).toBe(both);
  }
});

import { expect, test } from 'vitest';
import type { MetInSandbox } from '../../../src/core/agent/attempt.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import type { LoopState } from '../../../src/core/machine/loop-state.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { DONE, nonstop, OVERLOADED, TAG } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';
import { openSandbox } from '../../helpers/sandboxed.ts';

const inSandbox = openSandbox();
const EVIL = { host: 'evil.example.com', port: 443, count: 3 };

function met(changes: Partial<MetInSandbox> = {}, message = 'Not yet.') {
  return { ...answered(message), met: { refused: [], planted: [], ...changes } };
}

function whatIsKept({ task }: LoopState) {
  const { changes = [], ...kept } = task.sandbox ?? {};
  return { ...kept, changes: changes.map(({ what }) => what) };
}

test('the start says whether the sandbox is on, and the state keeps its rules and its version', () => {
  const loop = loopInHand({ inSandbox, allowNet: ['a.example.com'], denyRead: ['~'] });
  const { told, state } = loop.start();
  expect(told[0]).toMatchObject({ event: 'task_started', sandbox: 'on' });
  expect(state.task.sandbox).toEqual({
    is: 'on',
    version: '0.0.78',
    rules: {
      allow_write: [],
      allow_net: ['a.example.com'],
      deny_read: ['~'],
      allow_read: [],
      keep_env: [],
      allow_unix_sockets: false,
      sandbox_checks: true,
    },
    changes: [],
    refused: [],
    planted: [],
  });
});

test('a setting alone is no sandbox: only one that was opened counts', () => {
  const { told, state } = loopInHand({ sandbox: true }).start();
  expect(told[0]).toMatchObject({ event: 'task_started', sandbox: 'off' });
  expect(state.task.sandbox).toBeNull();
});

test('a refused host is an event, is counted, and stands in the next prompt', () => {
  const loop = nonstop({ inSandbox });
  const { told } = loop.attempt(met({ refused: [EVIL] }));
  expect(told).toContainEqual({ event: 'sandbox_refused', iteration: 1, ...EVIL });
  const { addition } = loop.look(NOTHING_SEEN);
  expect(addition).toContain('The sandbox refused these hosts: evil.example.com:443. Only the');
  const { state } = loop.attempt(met({ refused: [{ ...EVIL, count: 2 }] }));
  expect(state.task.sandbox?.refused).toEqual([{ ...EVIL, count: 5 }]);
});

test('what was refused in an attempt that is tried again is told, too', () => {
  const loop = nonstop({ inSandbox });
  const { told, state } = loop.attempt({
    ...OVERLOADED,
    met: { refused: [EVIL], planted: ['/home/user/app/.mcp.json'] },
  });
  expect(told.map(({ event }) => event)).toEqual([
    'sandbox_refused',
    'sandbox_planted',
    'agent_retry',
  ]);
  expect(state.task.sandbox).toMatchObject({
    refused: [EVIL],
    planted: ['/home/user/app/.mcp.json'],
  });
});

test('neither a refused host nor a new file holds the promise back', () => {
  const loop = nonstop({ inSandbox });
  const { state } = loop.iterate(met({ refused: [EVIL], planted: ['/home/user/app/.envrc'] }, TAG));
  expect(state.task.status).toBe('completed');
});

test('names that an agent chose are short and harmless, and few of them are kept', () => {
  const hosts = Array.from({ length: 60 }, (_, at) => ({ ...EVIL, host: `h${at}\u001b[2J.x` }));
  const loop = nonstop({ inSandbox });
  const planted = [`/home/user/app/${'a'.repeat(9_000)}`, '/home/user/app/\u001b[2J'];
  const refused = [...hosts, EVIL];
  const { told, state } = loop.attempt(met({ refused, planted }));
  expect(told.filter(({ event }) => event === 'sandbox_refused')).toHaveLength(40);
  expect(state.task.sandbox?.refused).toHaveLength(40);
  expect(JSON.stringify(state.task.sandbox)).not.toContain('\\u001b');
  expect(JSON.stringify(state.task.sandbox).length).toBeLessThan(6_000);
});

test('what the rules name comes first, and what is left out is counted', () => {
  const named = '/home/user/app/.vscode';
  const rules = { denyWrite: [{ value: named, from: 'default' }] };
  const loop = nonstop({ inSandbox: openSandbox('0.0.78', rules) });
  const decoys = (from: string) => Array.from({ length: 41 }, (_, at) => `/work/${from}${at}/.git`);
  const { told } = loop.attempt(met({ planted: [...decoys('a'), named] }));
  const planted = told.filter(({ event }) => event === 'sandbox_planted');
  expect(planted).toHaveLength(40);
  expect(planted[0]).toEqual({ event: 'sandbox_planted', iteration: 1, path: named });
  expect(planted.at(-1)).toMatchObject({ path: '/work/a38/.git', more: 2 });
  loop.look(NOTHING_SEEN);
  const refused = Array.from({ length: 50 }, (_, at) => ({ ...EVIL, host: `h${at}.example` }));
  const { state } = loop.attempt(met({ planted: decoys('b'), refused }));
  expect(state.task.sandbox?.planted).toHaveLength(40);
  expect(state.task.sandbox?.planted[0]).toBe(named);
  expect(state.task.sandbox?.more).toEqual({ refused: 10, planted: 43 });
});

test('a name of the rules that comes late is kept in the place of others', () => {
  const rules = { denyWrite: [{ value: '/home/user/app/.envrc', from: 'default' }] };
  const loop = nonstop({ inSandbox: openSandbox('0.0.78', rules) });
  loop.iterate(met({ planted: Array.from({ length: 40 }, (_, at) => `/work/a${at}/.git`) }));
  const { state } = loop.attempt(met({ planted: ['/home/user/app/.envrc'] }));
  expect(state.task.sandbox?.planted).toContain('/home/user/app/.envrc');
  expect(state.task.sandbox?.more).toEqual({ refused: 0, planted: 1 });
});

test('an address with colons is bracketed, so that its port can follow', () => {
  const { told } = nonstop({ inSandbox }).attempt(met({ refused: [{ ...EVIL, host: '::1' }] }));
  expect(told).toContainEqual({ ...EVIL, event: 'sandbox_refused', iteration: 1, host: '[::1]' });
});

test('a resume without flags keeps the rules and says nothing', () => {
  const loop = nonstop({ inSandbox, allowNet: ['a.example.com'] });
  loop.iterate(met({ refused: [EVIL] }));
  const { told, state } = loop.resume();
  expect(told[0]).toEqual({ event: 'task_resumed', iteration: 2, max_iterations: 5 });
  expect(whatIsKept(state)).toMatchObject({ is: 'on', refused: [EVIL], changes: [] });
});

test('a flag of a resume changes the rules, which is said and kept', () => {
  const loop = nonstop({ inSandbox, allowNet: ['a.example.com'] });
  loop.iterate(met());
  const changes = { allowNet: ['b.example.com'], sandboxChecks: false, allowUnixSockets: true };
  const { told, state } = loop.resume({ ...changes, inSandbox: openSandbox('0.0.79') });
  const said = [
    '--allow-net now has b.example.com',
    '--allow-net no longer has a.example.com',
    'sockets in the file system are allowed',
    'checks run outside the sandbox',
    'the component is 0.0.79, and was 0.0.78',
  ];
  expect(told[0]).toMatchObject({ event: 'task_resumed', sandbox_changes: said });
  expect(whatIsKept(state)).toMatchObject({ version: '0.0.79', changes: said });
  expect(whatIsKept(state).rules).toMatchObject({ allow_net: ['b.example.com'] });
});

test('a resume without the sandbox is said and kept, and one more with it is, too', () => {
  const loop = nonstop({ inSandbox });
  loop.iterate(met({ planted: ['/home/user/app/.envrc'] }));
  const off = loop.resume({ inSandbox: null });
  expect(off.told[0]).toMatchObject({ sandbox_changes: ['the sandbox is off'] });
  expect(whatIsKept(off.state)).toMatchObject({ is: 'off', planted: ['/home/user/app/.envrc'] });
  loop.iterate(answered('Not yet.'));
  expect(loop.resume({ inSandbox: null }).told[0]).not.toHaveProperty('sandbox_changes');
  const on = loop.resume({ inSandbox });
  expect(on.told[0]).toMatchObject({ sandbox_changes: ['the sandbox is on'] });
  expect(whatIsKept(on.state).changes).toEqual(['the sandbox is off', 'the sandbox is on']);
  expect(on.state.task.sandbox?.changes[0]?.at).toMatch(/^2026-/);
});

test('a task that began without the sandbox can get it with a resume', () => {
  const loop = nonstop();
  loop.iterate(answered('Not yet.'));
  const { told, state } = loop.resume({ inSandbox, allowWrite: ['/cache'] });
  expect(told[0]).toMatchObject({ sandbox_changes: ['the sandbox is on'] });
  expect(whatIsKept(state)).toMatchObject({ is: 'on', rules: { allow_write: ['/cache'] } });
});

test('a completed task whose end is announced again says nothing of its sandbox', () => {
  const loop = nonstop({ inSandbox });
  loop.iterate(DONE);
  expect(loop.resume({ inSandbox: null }).state.task.sandbox?.is).toBe('on');
});

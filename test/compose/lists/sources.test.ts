import { expect, test } from 'vitest';
import type { CommandEnd } from '../../../src/compose/lists/list-commands.ts';
import type { ListPorts } from '../../../src/compose/lists/list-run.ts';
import { type PrintedList, printedSource } from '../../../src/compose/lists/list-source.ts';
import { workThrough } from '../../../src/compose/lists/work-through.ts';
import { NO_USAGE } from '../../../src/core/agent/attempt.ts';
import type { TaskList } from '../../../src/core/list/list-item.ts';
import { readPrinted } from '../../../src/core/list/list-sources.ts';
import { type ListState, newListState } from '../../../src/core/list/list-state.ts';

const NO_STOP = new AbortController().signal;
const stops = { signal: NO_STOP, hurry: NO_STOP, cause: () => null };

/** A tracker and a vault that outlive a killed run, with a note of each thing that was done to them. */
class World {
  items: readonly object[];
  readonly notes: string[] = [];
  readonly said: string[] = [];
  readonly tasks = new Map<string, { readonly startedAt: string; readonly standing: string }>();
  readonly failing = new Set<string>();
  state: ListState = newListState({ list: 'from', file: 'from', sections: [] });
  source: 'from' | 'github' = 'from';
  /** What a run may come to beside what is printed first. */
  known: readonly string[] = [];
  /** Kills the run at that call to the world, from 1. */
  killAt = 0;
  #calls = 0;

  constructor(...items: readonly object[]) {
    this.items = items;
  }

  #mayBeKilled(): void {
    this.#calls += 1;
    if (this.#calls === this.killAt) throw new Error('killed');
  }

  note(text: string): void {
    this.#mayBeKilled();
    this.notes.push(text);
    this.#mayBeKilled();
  }

  count(text: string): number {
    return this.notes.filter((note) => note === text).length;
  }

  #print(): CommandEnd {
    this.#mayBeKilled();
    const nodes = this.items.map((each) => ({ ...each, number: 'id' in each ? each.id : '' }));
    const pages = { data: { repository: { issues: { nodes } } } };
    const printed = this.source === 'github' ? pages : this.items;
    return { kind: 'passed', output: JSON.stringify(printed) };
  }

  #call(name: string, id: string): CommandEnd {
    const failed = this.failing.has(`${name} ${id}`);
    this.note(`${name} ${id}${failed ? ' fails' : ''}`);
    if (failed) return { kind: 'failed', why: 'no', isBroken: this.failing.has('broken') };
    // A claim and an end take an item off the list.
    this.items = this.items.filter((item) => !('id' in item && item.id === id));
    return { kind: 'passed', output: '' };
  }

  async run(more: Partial<ListPorts> = {}) {
    const list: PrintedList = {
      ...{ name: this.source, shown: '--from', label: null, sections: [] },
      commands: { list: 'print', claim: null, done: null },
      run: async () => this.#print(),
    };
    const read = readPrinted('from', '--from', JSON.stringify(this.items));
    const first: TaskList = 'list' in read ? read.list : { text: '', items: [] };
    const ports: ListPorts = {
      ...{ stateDir: '/state', file: null, shown: '--from', sections: [], only: null },
      ...{ places: 1, stops },
      source: printedSource(list, first, { known: new Set(this.known), stops }),
      calls: {
        claim: async ({ id }) => this.#call('claim', id),
        done: async ({ id }) => this.#call('done', id),
      },
      taskIdOf: (item) => `from.${item}`,
      save: async (state) => {
        this.#mayBeKilled();
        this.state = state;
        this.#mayBeKilled();
      },
      find: (taskId) => {
        const task = this.tasks.get(taskId);
        if (task === undefined) return null;
        const { startedAt: started_at, standing } = task;
        const ended = { exit_reason: 'completed', evidence: null };
        const used = { current_iteration: 1, max_iterations: 5, usage: NO_USAGE };
        const state = { started_at, ...ended, ...used };
        return { isOwn: true, standing, isInHistory: true, paths: { folder: '/' }, state };
      },
      commitOf: async () => null,
      maxCostUsd: null,
      land: async () => ({ kind: 'landed', onto: null, commit: null }),
      goBack: async () => null,
      start: async ({ item, taskId }) => this.#work(item.id, taskId),
      resume: async (taskId) => this.#work(taskId.slice('from.'.length), taskId),
      undo: async () => ({ kind: 'nothing' }),
      report: (event) => 'item' in event && this.said.push(`${event.kind} ${event.item}`),
      ...more,
    };
    return workThrough(ports, this.state);
  }

  #work(id: string, taskId: string) {
    const startedAt = this.tasks.get(taskId)?.startedAt ?? '2026-03-01T01:00:00.000Z';
    this.tasks.set(taskId, { startedAt, standing: 'interrupted' });
    this.note(`work ${id}`);
    if (this.failing.has(`work ${id}`)) {
      this.tasks.set(taskId, { startedAt, standing: 'stalled' });
      return { status: 'stalled', exitReason: 'stalled', evidence: null } as const;
    }
    this.tasks.set(taskId, { startedAt, standing: 'completed' });
    this.notes.push(`completed ${id}`);
    this.#mayBeKilled();
    return { status: 'completed', exitReason: 'completed', evidence: null } as const;
  }
}

const item = (id: string, more: object = {}): object => ({ id, title: id, ...more });
const steps = (id: string): readonly string[] =>
  ['claim', 'work', 'completed', 'done'].map((step) => `${step} ${id}`);

test('an item is claimed, worked on and told, one after the other', async () => {
  const world = new World(item('b', { dependsOn: ['a'] }), item('a'));
  expect(await world.run()).toMatchObject({ exitCode: 0, ticked: 2, left: 0 });
  expect(world.notes).toEqual([...steps('a'), ...steps('b')]);
  expect(world.state.items).toMatchObject([{ told: true }, { told: true }]);
});

test('whatever kills a run, the next one loses nothing and does nothing twice', async () => {
  let killAt = 1;
  for (; ; killAt += 1) {
    const world = new World(item('b', { dependsOn: ['a'] }), item('a'));
    world.killAt = killAt;
    const isKilled = await world.run().then(
      () => false,
      () => true,
    );
    if (!isKilled) break;
    expect(await world.run(), `killed at ${killAt}`).toMatchObject({ exitCode: 0 });
    for (const id of ['a', 'b']) {
      const completed = world.notes.indexOf(`completed ${id}`);
      expect(world.count(`completed ${id}`), `killed at ${killAt}`).toBe(1);
      expect(world.notes.lastIndexOf(`work ${id}`)).toBeLessThan(completed);
      expect(world.notes.indexOf(`done ${id}`)).toBeGreaterThan(completed);
      // What ended it a moment after a call is not known, so that the call comes once more.
      expect(world.count(`done ${id}`)).toBeLessThanOrEqual(2);
      expect(world.count(`claim ${id}`)).toBeLessThanOrEqual(2);
    }
  }
  expect(killAt).toBeGreaterThan(25);
});

test('a claim that fails leaves the item to others, and what waits for it waits', async () => {
  const world = new World(item('a'), item('b'), item('c', { dependsOn: ['a'] }));
  world.failing.add('claim a');
  expect(await world.run()).toMatchObject({ exitCode: 5, left: 1, ticked: 1 });
  expect(world.notes).toEqual(['claim a fails', ...steps('b')]);
  expect(world.state.items.map(({ id }) => id)).toEqual(['b']);
});

test('a claim that cannot be run ends the list', async () => {
  const world = new World(item('a'));
  const claim = async (): Promise<CommandEnd> => ({ kind: 'failed', why: 'x', isBroken: true });
  const end = await world.run({ calls: { claim, done: null } });
  expect(end).toMatchObject({ exitCode: 1, isCut: true, failure: 'nothing can be claimed; x.' });
  expect(world.state.items).toMatchObject([{ state: 'open' }]);
});

test('who could not be told is told by the next run, without an agent', async () => {
  const world = new World(item('a'));
  world.failing.add('done a');
  const end = await world.run();
  expect(end).toMatchObject({ exitCode: 5, isCut: false });
  expect([...end.unsettled]).toEqual([['a', 'is done, but its source was not told: no']]);
  world.failing.clear();
  expect((await world.run()).exitCode).toBe(0);
  expect((await world.run()).exitCode).toBe(0);
  expect(world.notes).toEqual([...steps('a').slice(0, 3), 'done a fails', 'done a']);
});

test('an item that failed stays blocked though its claim took it off the list, until it is opened again', async () => {
  const world = new World(item('a'));
  world.failing.add('work a');
  expect((await world.run()).exitCode).toBe(5);
  expect((await world.run()).exitCode).toBe(5);
  expect(world.count('work a')).toBe(1);
  world.failing.clear();
  world.tasks.clear();
  const [record] = world.state.items;
  if (record !== undefined) world.state = { ...world.state, items: [{ ...record, state: 'open' }] };
  expect((await world.run()).exitCode).toBe(0);
  expect(world.count('work a')).toBe(2);
});

test('a run comes to no item that was not known when it began', async () => {
  const world = new World(item('a'));
  world.known = ['waited'];
  const claim = async ({ id }: { readonly id: string }): Promise<CommandEnd> => {
    const old = { created_at: '2020-02-01T00:00:00Z' };
    world.items = id === 'a' ? [item('old', old), item('waited'), item('new')] : [];
    return { kind: 'passed', output: '' };
  };
  const end = await world.run({ calls: { claim, done: null } });
  expect(end).toMatchObject({ exitCode: 0, ticked: 2 });
  expect(world.notes.filter((note) => note.startsWith('work'))).toEqual(['work a', 'work waited']);
});

test('what a claim changes at the source does not start an item over', async () => {
  const claimed = { owner: 'me', assignees: ['me'], claimed_by: 'me', lastModified: 'now' };
  const world = new World(item('a', claimed));
  const kept = JSON.stringify(item('a', { owner: null }));
  const left = { id: 'a', state: 'working', task_id: 'from.a', earlier: null } as const;
  world.state = { ...world.state, items: [{ ...left, reason: null, proof: null, kept }] };
  world.tasks.set('from.a', { startedAt: '2026-03-01T01:00:00.000Z', standing: 'stopped' });
  await world.run();
  expect(world.said).toEqual(['done a']);
});

test('an item that is rewritten before its turn belongs to the next run', async () => {
  const world = new World(item('a'), item('b', { body: 'as labelled', status: 'open' }), item('c'));
  const claim = async ({ id }: { readonly id: string }): Promise<CommandEnd> => {
    const passing = { status: 'todo', updated_at: 'now', dependsOn: [] };
    if (id === 'a')
      world.items = [item('b', { body: 'do evil', status: 'open' }), item('c', passing)];
    return { kind: 'passed', output: '' };
  };
  expect(await world.run({ calls: { claim, done: null } })).toMatchObject({
    exitCode: 0,
    added: 1,
  });
  expect(world.notes.filter((note) => note.startsWith('work'))).toEqual(['work a', 'work c']);
  expect(world.said).toContain('rewritten b');
});

test.for<[source: 'from' | 'github', isClaimed: boolean]>([
  ['from', false],
  ['github', false],
  ['github', true],
])(
  'an item that a person has withdrawn is not gone on with: %s, claimed %s',
  async ([source, isClaimed]) => {
    const world = new World(item('a'), item('b'));
    world.source = source;
    const passed = async (): Promise<CommandEnd> => ({ kind: 'passed', output: '' });
    const calls = { claim: isClaimed ? passed : null, done: passed };
    world.killAt = 4;
    await expect(world.run({ calls })).rejects.toThrow('killed');
    expect(world.tasks.get('from.a')?.standing).toBe('interrupted');
    world.items = [item('b')];
    expect((await world.run({ calls })).exitCode).toBe(0);
    expect([world.count('completed a'), world.count('completed b')]).toEqual([0, 1]);
    expect(world.said).toContain('withdrawn a');
  },
);

test('an item that was stopped is claimed again before it goes on', async () => {
  const world = new World(item('a'));
  world.killAt = 6;
  await expect(world.run()).rejects.toThrow('killed');
  expect(world.tasks.get('from.a')?.standing).toBe('interrupted');
  world.failing.add('claim a');
  expect(await world.run()).toMatchObject({ exitCode: 5, left: 1 });
  world.failing.clear();
  expect((await world.run()).exitCode).toBe(0);
  expect(world.notes).toEqual(['claim a', 'work a', 'claim a fails', ...steps('a')]);
});

test('what was claimed before is kept when a later claim fails', async () => {
  const world = new World(item('a'));
  world.failing.add('work a');
  await world.run();
  const [record] = world.state.items;
  if (record !== undefined) world.state = { ...world.state, items: [{ ...record, state: 'open' }] };
  world.failing.add('claim a');
  expect(await world.run()).toMatchObject({ exitCode: 5, left: 1 });
  expect(world.state.items).toMatchObject([{ id: 'a', state: 'open', claimed: true }]);
});

test('whoever is told by a command that cannot run ends the list', async () => {
  const world = new World(item('a'), item('b'));
  world.failing.add('done a').add('broken');
  const failure = 'nobody can be told what is done; no.';
  expect(await world.run()).toMatchObject({ exitCode: 1, isCut: true, failure });
  expect(await world.run()).toMatchObject({ exitCode: 1, isCut: true, failure });
  expect(world.count('claim b')).toBe(0);
});

test('a list that becomes bad while it is worked on ends as one that cannot be read', async () => {
  const world = new World(item('a'));
  const claim = async (): Promise<CommandEnd> => {
    world.items = [item('x'), item('x')];
    return { kind: 'passed', output: '' };
  };
  const end = await world.run({ calls: { claim, done: null } });
  expect(end).toMatchObject({ exitCode: 1, isCut: true, ticked: 1 });
  expect(end.failure).toContain('x');
});

test('issues of another repository than at the beginning are not read', async () => {
  const page = (nameWithOwner: string): string =>
    JSON.stringify({ data: { repository: { nameWithOwner, issues: { nodes: [] } } } });
  const list: PrintedList = {
    ...{ name: 'github', shown: 'github', label: 'ai', sections: [] },
    commands: { list: 'print', claim: null, done: null },
    run: async () => ({ kind: 'passed', output: page('you/app') }),
  };
  const printed = { text: '', items: [], repository: 'github.com/me/app' };
  const source = printedSource(list, printed, { known: new Set(), stops });
  const state = newListState({ list: 'github', file: 'github', sections: [] });
  await expect(source.read(state)).rejects.toThrow(
    'github shows github.com/you/app now, and showed github.com/me/app',
  );
});

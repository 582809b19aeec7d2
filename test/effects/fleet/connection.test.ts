import { expect, test } from 'vitest';
import { openDatabase, Undone } from '../../../src/fleet/database/connection.ts';
import type { Engine, PgClient } from '../../../src/fleet/database/load-engine.ts';

// Who gets a connection when there are fewer than wanted.

/** A pool whose statements end when the test says so, except those of transactions. */
function scriptedPool() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  let inUse = 0;
  let mostInUse = 0;
  let broken = 0;
  const client: PgClient = {
    query(text) {
      const nothing = { rows: [], rowCount: 0 };
      if (text.startsWith('set ')) return Promise.resolve(nothing);
      begun.push(text);
      if (/^(begin|commit|rollback)$/.test(text)) return Promise.resolve(nothing);
      return new Promise((resolve, reject) => {
        ends.set(text, (error) => (error === undefined ? resolve(nothing) : reject(error)));
      });
    },
    release(isBroken) {
      inUse -= 1;
      if (isBroken === true) broken += 1;
    },
    on() {},
  };
  class Pool {
    async connect(): Promise<PgClient> {
      inUse += 1;
      mostInUse = Math.max(mostInUse, inUse);
      return client;
    }
    on(): void {}
    async end(): Promise<void> {}
  }
  const types = { getTypeParser: () => String };
  const engine = { Pool, types } as unknown as Engine;
  const address = { name: 'fleet test', connectionString: '' };
  return {
    open: (connections: number) => openDatabase(engine, address, { connections }),
    begun,
    mostInUse: () => mostInUse,
    broken: () => broken,
    async end(text: string, error?: Error): Promise<void> {
      await expect.poll(() => ends.has(text)).toBe(true);
      ends.get(text)?.(error);
    },
  };
}

test('statements wait for a connection in the order in which they came', async () => {
  const pool = scriptedPool();
  const database = pool.open(1);
  const all = ['one', 'two', 'three'].map((text) => database.rows(text));
  await pool.end('one');
  await pool.end('two');
  await pool.end('three');
  await Promise.all(all);
  expect(pool.begun).toEqual(['one', 'two', 'three']);
  expect(pool.mostInUse()).toBe(1);
});

test('transactions leave one connection to the beats', async () => {
  const pool = scriptedPool();
  const database = pool.open(2);
  const first = database.transaction((tx) => tx.executeSql('first'));
  const second = database.transaction((tx) => tx.executeSql('second'));
  const beat = database.rows('beat');
  await pool.end('beat');
  await beat;
  expect(pool.begun).not.toContain('second');
  await pool.end('first');
  await pool.end('second');
  await Promise.all([first, second]);
  expect(pool.begun.filter((text) => text === 'begin')).toHaveLength(2);
  expect(pool.begun.indexOf('commit')).toBeLessThan(pool.begun.indexOf('second'));
});

test('what fails gives its turn to the next, and leaves no transaction open', async () => {
  const pool = scriptedPool();
  const database = pool.open(1);
  // Statements of the engine may begin a transaction of their own.
  const failing = database.rows('begin; bad; commit');
  const next = database.rows('next');
  const refused = expect(failing).rejects.toThrow('division by zero');
  await pool.end(
    'begin; bad; commit',
    Object.assign(new Error('division by zero'), { code: '22012' }),
  );
  await refused;
  await pool.end('next');
  await next;
  expect(pool.begun).toEqual(['begin; bad; commit', 'rollback', 'next']);
});

test('a transaction that its work undoes is no failure of the database, whatever its words', async () => {
  const pool = scriptedPool();
  const database = pool.open(1);
  const undone = new Undone('account connection is closed to this claim');
  const work = database.transaction(() => Promise.reject(undone));
  await expect(work).rejects.toBe(undone);
  expect(pool.begun).toEqual(['begin', 'rollback']);
  expect(pool.broken()).toBe(0);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FleetScene } from './fleet-scene.ts';

// How a worker is caught at one step of its work, from outside: at a push by a `git` of the test's own, at a write by
// a trigger in the database.

/** A push that kills the worker that makes it. */
export interface FatalPush {
  /** How the name of the pushed ref begins. */
  readonly ref: string;
  /** Whether the origin has it by then. */
  readonly when: 'before' | 'after';
}

/** Puts a `git` in front of that of the workers. Each of these pushes kills a worker once. */
export function dieAtPushes(
  { folder, stub }: Pick<FleetScene, 'folder' | 'stub'>,
  pushes: readonly FatalPush[],
): void {
  const cases = pushes.map(({ ref, when }, at) => {
    const first = when === 'after' ? 'git "$@"; ' : '';
    const once = `mkdir '${join(folder, `died-${at}`)}' 2>/dev/null`;
    return `*' push '*':${ref}'*) if ${once}; then ${first}kill -9 "$PPID"; exit 1; fi ;;`;
  });
  const lines = [
    '#!/bin/sh',
    `PATH=\${PATH#'${stub.bin}':}`,
    'case " $* " in',
    ...cases,
    'esac',
    'exec git "$@"',
  ];
  writeFileSync(join(stub.bin, 'git'), `${lines.join('\n')}\n`, { mode: 0o755 });
}

/** A write that is held up in its transaction. */
export interface HeldWrite {
  readonly name: string;
  /** A table in the schema `ralph`. */
  readonly table: string;
  /** Which updates: a condition on the rows `old` and `new`. */
  readonly when: string;
}

/** The writes that are held up in a database. */
export interface HeldWrites {
  /** Waits until a write is held up. */
  untilHeld(name: string): Promise<void>;
  /** Lets it go on, and waits until its transaction is over. */
  release(name: string): Promise<void>;
}

/** Holds up the writes of workers until they are released, each for as long as a statement may take at most. */
export async function holdWrites(
  { site, url }: Pick<FleetScene, 'site' | 'url'>,
  writes: readonly HeldWrite[],
): Promise<HeldWrites> {
  const sql = (statements: string): Promise<string> => site.postgres.sql(url, statements);
  await sql(`
    create table public.held (name text);
    create function public.hold() returns trigger language plpgsql as $$ begin
      -- Until the end of the transaction, others see by it who waits here.
      perform set_config('application_name', 'held ' || tg_argv[0], true);
      while exists (select from public.held where name = tg_argv[0]) loop
        perform pg_sleep(0.02);
      end loop;
      return new;
    end $$`);
  for (const { name, table, when } of writes) {
    await sql(`
      insert into public.held values ('${name}');
      create trigger "hold ${name}" before update on ralph.${table}
        for each row when (${when}) execute function public.hold('${name}')`);
  }
  const held = (name: string) => () =>
    sql(`select count(*) from pg_stat_activity where application_name = 'held ${name}'`);
  return {
    async untilHeld(name) {
      await expect.poll(held(name), { message: name }).toBe('1');
    },
    async release(name) {
      await sql(`delete from public.held where name = '${name}'`);
      await expect.poll(held(name), { message: name }).toBe('0');
    },
  };
}

/** Makes the leases of all claims run out, as if nobody had beaten for an hour. */
export async function endLeases({ site, url }: Pick<FleetScene, 'site' | 'url'>): Promise<void> {
  await site.postgres.sql(
    url,
    "update ralph_queue.job set heartbeat_on = heartbeat_on - interval '1 hour' where state = 'active'",
  );
}

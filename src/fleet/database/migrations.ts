import { FleetError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';

/**
 * The tables of ralph, one migration after another. A migration only adds, with a default for what it adds, so that
 * workers of the previous version can go on during and after it. A released migration is never changed.
 */
export const MIGRATIONS: readonly string[] = [
  `
  create table ralph.setting_set (
    -- Nobody can put other settings under the name of those that somebody else is about to submit.
    sha256 text primary key
      check (sha256 = left(encode(sha256(convert_to(settings::text, 'UTF8')), 'hex'), 32)),
    settings json not null
  );
  create table ralph.task (
    -- What a submitter writes by hand is held to the same rules as what ralph submits.
    task_id text primary key check (task_id ~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'
      and task_id !~ '[.][.]|[.]$|[.]lock$|[.]json$'
      and task_id not in ('history', 'events', 'events.jsonl', 'locks', 'HEAD')),
    number bigint generated always as identity unique,
    spec json not null,
    setting_set text not null references ralph.setting_set,
    content_sha256 text not null,
    schema int not null check (schema between 1 and 1000000),
    queue text not null check (queue ~ '^[a-z0-9-]{1,40}$'),
    account text not null check (account ~ '^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}$'),
    priority int not null check (priority between -100 and 100),
    -- Only instants that every part can write and count on from.
    not_before timestamptz check (not_before between '1970-01-01 00:00Z' and '9999-12-31 23:59:59.999Z'),
    -- Given here, so that a submitter cannot name the job of another task. A sweep makes a job that is missing.
    job uuid default gen_random_uuid(),
    fence int not null default 0,
    claims int not null default 0,
    hosts text[] not null default '{}',
    parks int not null default 0,
    worker text,
    host text,
    parked json,
    parked_at timestamptz,
    paused boolean not null default false,
    status text not null default 'pending',
    exit_reason text,
    exit_code int,
    warning text,
    note text,
    iterations int not null default 0,
    cost_usd double precision not null default 0,
    base_commit text,
    branch_commit text,
    result_commit text,
    result_ref text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    ended_at timestamptz
  );
  create index task_open on ralph.task (account) where ended_at is null;
  create index task_running on ralph.task (account) where worker is not null;
  -- For the removal of settings that no task has any more.
  create index task_settings on ralph.task (setting_set);

  create table ralph.checkpoint (
    task_id text primary key references ralph.task on delete cascade,
    fence int not null,
    status text not null,
    iterations int not null,
    cost_usd double precision not null,
    snapshot json,
    packed bytea not null,
    saved_at timestamptz not null default now()
  );
  -- It is packed already.
  alter table ralph.checkpoint alter column packed set storage external;

  create table ralph.event (
    task_id text not null references ralph.task on delete cascade,
    number bigint generated always as identity,
    -- Given by the writer, so that a write whose answer got lost can be repeated.
    id uuid not null,
    worker text,
    host text,
    body json not null,
    primary key (task_id, number),
    unique (task_id, id)
  );

  create table ralph.log (
    task_id text not null references ralph.task on delete cascade,
    name text not null,
    iteration int not null,
    packed bytea not null,
    saved_at timestamptz not null default clock_timestamp(),
    primary key (task_id, name)
  );
  alter table ralph.log alter column packed set storage external;

  create table ralph.account (
    name text primary key,
    paused_until timestamptz,
    held boolean not null default false,
    slots int not null default 0,
    why text
  );

  create table ralph.request (
    id uuid primary key default gen_random_uuid(),
    number bigint generated always as identity,
    task_id text not null references ralph.task on delete cascade,
    kind text not null,
    text text,
    by text not null,
    db_user text not null default session_user,
    asked_at timestamptz not null default now()
  );
  create index request_of_task on ralph.request (task_id, number);

  create table ralph.approval (
    task_id text not null references ralph.task on delete cascade,
    id text not null,
    number bigint generated always as identity,
    text text not null,
    asked_at timestamptz not null default now(),
    expires_at timestamptz,
    verdict text,
    answered_by text,
    db_user text,
    comment text,
    taken boolean not null default false,
    primary key (task_id, id)
  );

  create table ralph.worker (
    id text primary key,
    facts json not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
  );
  `,
  // Limits sizes: one huge row could take all memory of every worker and command. Rows that break a limit already must
  // not stop the migration. In `task` such values are replaced: each claim updates the row, and would fail on them.
  `
  update ralph.task set spec = '{}' where octet_length(spec::text) >= 8000000;
  update ralph.task set content_sha256 = repeat('0', 64) where content_sha256 !~ '^[0-9a-f]{64}$';
  alter table ralph.task
    add constraint task_spec_size check (octet_length(spec::text) < 8000000),
    add constraint task_content_sha256 check (content_sha256 ~ '^[0-9a-f]{64}$');
  alter table ralph.setting_set
    add constraint setting_set_size check (octet_length(settings::text) < 1000000) not valid;
  `,
  // The number (fence) of the claim that wrote an event; null in events of older workers.
  `
  alter table ralph.event add column if not exists fence int;
  `,
];

/** The version of the tables that this ralph works with. */
export const TABLES_VERSION = MIGRATIONS.length;

/** The error if a newer ralph made the tables: this ralph then neither changes them nor claims tasks. */
export function newerTables(fleet: string, found: number): FleetError {
  return new FleetError(
    `${fleet} has tables of a newer ralph (version ${found}, this one knows ${TABLES_VERSION}); update ralph here.`,
    EXIT_FAILED,
  );
}

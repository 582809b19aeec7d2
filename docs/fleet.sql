-- Two roles with few rights. Run it after each `ralph fleet init`, as the owner of the tables, who needs CREATEROLE the
-- first time: psql "$RALPH_FLEET" -f docs/fleet.sql
-- Then, for each person: create role ann login in role ralph_submitter;
-- Workers, and those who answer, stop and prune, connect as the owner of the tables.

do $$ begin
  if not exists (select from pg_roles where rolname = 'ralph_submitter') then
    create role ralph_submitter;
  end if;
  if not exists (select from pg_roles where rolname = 'ralph_reader') then
    create role ralph_reader;
  end if;
end $$;

-- Everybody who connects can hold the locks by which ralph takes turns, so nobody else may. If the owner of the database is
-- somebody else, this warns, too: have that one run it.
do $$ begin
  execute format('grant connect on database %I to ralph_submitter, ralph_reader, %I', current_database(),
    (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'ralph'));
  execute format('revoke connect on database %I from public', current_database());
end $$;

-- Before PostgreSQL 15 everybody may create functions there, which others might run. If its owner is somebody else, such
-- as postgres, this warns: have that one run it.
revoke create on schema public from public;

grant usage on schema ralph, ralph_queue to ralph_submitter, ralph_reader;
grant select on ralph.meta, ralph_queue.version, ralph_queue.queue to ralph_submitter, ralph_reader;

-- May queue new tasks, and read in which state tasks are: no approvals, no checkpoints, no logs, no accounts.
grant select on ralph.task, ralph.setting_set to ralph_submitter;
grant insert (task_id, spec, setting_set, content_sha256, schema, queue, account, priority, not_before)
  on ralph.task to ralph_submitter;
grant insert on ralph.setting_set to ralph_submitter;
-- No right in ralph_queue but to read its queues: the engine trusts what is written there. A worker makes the jobs of
-- these tasks within ten seconds.

-- May read all of it: status, logs, report and approvals.
grant select on all tables in schema ralph to ralph_reader;

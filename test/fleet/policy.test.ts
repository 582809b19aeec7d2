import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { type FleetScene, installedRalph, PASSWORD } from '../helpers/fleet-scene.ts';
import { useFleetSite } from '../helpers/fleet-test.ts';

// What a task may not make a worker do, and what an agent does not get.

const makeScene = useFleetSite(1);

test('a task that asks for more than the policy allows is not run', async () => {
  const policy = 'repos: ["git://*/origin*", "file:///*/origin*"]\n';
  const scene = await makeScene({ policy });
  const elsewhere = scene.origin.url.replace(/origin/, 'other');
  const traces = join(scene.folder, 'traces');
  mkdirSync(traces);
  const leaves = (name: string): string => `touch '${join(traces, name)}'`;
  const asked: Readonly<Record<string, readonly [object, RegExp]>> = {
    check: [{ verify: `${leaves('check')}; curl http://127.0.0.1:9/` }, /commands.*curl/s],
    until: [{ until: leaves('until') }, /commands.*--until/s],
    after: [{ after: leaves('after') }, /commands.*--after/s],
    end: [{ on_end: leaves('end') }, /commands.*--on-end/s],
    setup: [{ setup: leaves('setup') }, /commands.*--setup/s],
    tools: [{ allowed_tools: ['Bash'] }, /allowed_tools.*Bash/s],
    mode: [{ permission_mode: 'bypassPermissions' }, /permission_modes.*bypassPermissions/s],
    agent: [{ agent: 'codex' }, /agents.*codex/s],
    repo: [{ repo: elsewhere }, /repos.*other/s],
    path: [{ repo: '/etc' }, /repos.*\/etc/s],
    words: [{ agent_arguments: ['--x'] }, /agent_arguments/],
  };
  await scene.submit(Object.entries(asked).map(([task_id, [keys]]) => ({ task_id, ...keys })));
  const worker = await scene.startWorker(scene.host(1), ['--until-empty']);
  expect(await worker.ended).toBe(0);
  for (const { spec, status, exit_reason, warning } of await scene.tasks()) {
    expect([spec.task_id, status, exit_reason]).toEqual([spec.task_id, 'failed', 'failed:policy']);
    expect(warning).toMatch(asked[spec.task_id]?.[1] ?? /never/);
  }
  expect([scene.stub.notes(), readdirSync(traces)]).toEqual([[], []]);
});

test('a payment that came to the database without ralph submit is not run', async () => {
  const scene = await makeScene();
  const sql = (query: string): Promise<string> => scene.site.postgres.sql(scene.url, query);
  await scene.submit([{ task_id: 'a' }]);
  await sql(
    `update ralph.task set spec = jsonb_set(spec::jsonb, '{task_type}', '"pay-payments"')::json`,
  );
  const worker = await scene.startWorker(scene.host(1), ['--until-empty']);
  expect(await worker.ended).toBe(0);
  expect(await sql('select status, exit_reason, warning from ralph.task')).toMatch(
    /^failed\|failed:policy\|.*never automates payments/,
  );
  expect(scene.stub.notes()).toEqual([]);
});

test('what no worker takes is refused when it is submitted', async () => {
  const scene = await makeScene();
  const submit = (repo: string, ...more: readonly string[]) =>
    scene.ralph(['submit', '--repo', repo, '--prompt', 'x', ...more]);
  for (const [repo, ...more] of [
    ['ext::sh -c true'],
    ['--upload-pack=true'],
    ['https://ann:hunter2secret@example.org/app.git'],
    [scene.origin.url, '--task-type', 'payment'],
    [scene.origin.url, '--cwd', '/'],
    [scene.origin.url, '--task-id', 'a..b'],
  ] as const) {
    const end = await submit(repo, ...more);
    expect([repo, more, end.exitCode, end.stdout]).toEqual([repo, more, 2, '']);
    expect(end.stderr).not.toContain('hunter2secret');
  }
  expect(await scene.tasks()).toEqual([]);
});

/** Returns what the checkpoints and logs of a fleet hold. */
async function unpacked({ site, url }: FleetScene): Promise<readonly string[]> {
  const columns = await site.postgres.sql(
    url,
    `select format('select encode(%I, ''hex'') from %I.%I', column_name, table_schema, table_name)
     from information_schema.columns where data_type = 'bytea' and table_schema like 'ralph%'`,
  );
  const rows = await Promise.all(columns.split('\n').map((query) => site.postgres.sql(url, query)));
  const values = rows.flatMap((each) => each.split('\n').filter(Boolean));
  return values.map((hex) => gunzipSync(Buffer.from(hex, 'hex')).toString());
}

test('neither a file of the clone nor the agent gets hold of the worker', async () => {
  const config = 'max_iterations: 1\nuntil: touch "$FLEET_STUB/by-config"\n';
  const scene = await makeScene({ files: { 'ralph.config.yaml': config } });
  const ralph = `${process.execPath} ${installedRalph()}`;
  const evil = 'touch "$FLEET_STUB/evil"';
  scene.stub.does({
    ...{ iterations: 2, seconds: 0 },
    before: [
      'env | tee "$FLEET_STUB/environment" >&2',
      `git config core.sshCommand '${evil}'`,
      `git config core.fsmonitor '${evil}'`,
      'git config url.file:///nowhere/.insteadOf git:',
      'hooks=$(git rev-parse --git-path hooks); mkdir -p "$hooks"',
      `for hook in pre-push post-checkout post-commit pre-commit reference-transaction; do printf '#!/bin/sh\\n${evil}\\n' >"$hooks/$hook"; chmod +x "$hooks/$hook"; done`,
      `${ralph} submit --fleet '${scene.hostUrl}' --repo '${scene.origin.url}' --prompt x 2>"$FLEET_STUB/submitted"; echo $? >>"$FLEET_STUB/submitted"`,
      `${ralph} approve a --fleet '${scene.hostUrl}' 2>"$FLEET_STUB/approved"; echo $? >>"$FLEET_STUB/approved"`,
    ].join('\n'),
    // What it says goes into its log, the events, the checkpoint, and the row of the task.
    after: `[ "$RALPH_ITERATION" = 1 ] || text="$(env | tr -c 'A-Za-z0-9=_/.,:@-' ' ')\\n\\nAll of it is done.\\n\\n<promise>TASK_COMPLETE</promise>"`,
  });
  const ids = await scene.submit([{ task_id: 'a' }]);
  const worker = await scene.startWorker(scene.host(1), ['--until-empty']);
  expect(await worker.ended).toBe(0);

  expect((await auditFleet(scene, ids, 2)).problems).toEqual([]);
  const left = (name: string): string => readFileSync(join(scene.stub.folder, name), 'utf8');
  expect(left('environment')).toMatch(/^RALPH_TASK_ID=a$/m);
  expect(left('environment')).not.toMatch(/^(?:PG|RALPH_FLEET)/m);
  expect(left('environment')).not.toContain(PASSWORD);
  expect(left('submitted')).toMatch(/\n2\n$/);
  expect(left('approved')).toMatch(/\n2\n$/);
  for (const name of ['evil', 'by-config']) {
    expect([name, existsSync(join(scene.stub.folder, name))]).toEqual([name, false]);
  }
  const dump = execFileSync('pg_dump', ['-d', scene.url], { encoding: 'utf8' });
  const packed = await unpacked(scene);
  for (const text of [dump, ...packed]) expect(text).not.toContain(PASSWORD);
  expect(dump).toContain('task_iterated');
  expect(packed.filter((text) => text.includes('RALPH_TASK_ID=a'))).not.toEqual([]);
  expect(worker.said()).not.toContain(PASSWORD);
});

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { installedRalph, PASSWORD } from '../helpers/fleet-scene.ts';
import { useFleetSite } from '../helpers/fleet-test.ts';

// What a task may not make a worker do, and what an agent does not get.

const makeScene = useFleetSite(1);

test('a task that asks for more than the policy allows is not run', async () => {
  const policy = 'repos: ["git://*/origin*", "file:///*/origin*"]\n';
  const scene = await makeScene({ policy });
  const elsewhere = scene.origin.url.replace(/origin/, 'other');
  const asked: Readonly<Record<string, readonly [object, RegExp]>> = {
    check: [{ verify: 'curl http://127.0.0.1:9/' }, /commands.*curl/s],
    until: [{ until: 'true' }, /commands.*--until/s],
    setup: [{ setup: 'true' }, /commands.*--setup/s],
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

test('neither a file of the clone nor the agent gets hold of the worker', async () => {
  const config = 'max_iterations: 1\nuntil: touch "$FLEET_STUB/by-config"\n';
  const scene = await makeScene({ files: { 'ralph.config.yaml': config } });
  const ralph = `${process.execPath} ${installedRalph()}`;
  const evil = 'touch "$FLEET_STUB/evil"';
  scene.stub.does({
    ...{ iterations: 2, seconds: 0 },
    before: [
      'env >"$FLEET_STUB/environment"',
      `git config core.sshCommand '${evil}'`,
      `git config core.fsmonitor '${evil}'`,
      'git config url.file:///nowhere/.insteadOf git:',
      'hooks=$(git rev-parse --git-path hooks); mkdir -p "$hooks"',
      `for hook in pre-push post-checkout post-commit pre-commit reference-transaction; do printf '#!/bin/sh\\n${evil}\\n' >"$hooks/$hook"; chmod +x "$hooks/$hook"; done`,
      `${ralph} submit --fleet '${scene.hostUrl}' --repo '${scene.origin.url}' --prompt x 2>"$FLEET_STUB/submitted"; echo $? >>"$FLEET_STUB/submitted"`,
      `${ralph} approve a --fleet '${scene.hostUrl}' 2>"$FLEET_STUB/approved"; echo $? >>"$FLEET_STUB/approved"`,
    ].join('\n'),
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
  expect(dump).toContain('task_iterated');
  expect(dump).not.toContain(PASSWORD);
  expect(worker.said()).not.toContain(PASSWORD);
});

import { expect, test } from 'vitest';
import { slack } from '../helpers/fleet-size.ts';
import { useFleetSite } from '../helpers/fleet-test.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';

// A batch of ten thousand tasks.

const makeScene = useFleetSite(1);
const COUNT = 10_000;
const TIME_MS = 5_000 + slack(PATIENCE_MS);
const MOST_BYTES = 15 * 1024 * 1024;

test('ten thousand tasks are queued in one transaction, once, or not at all', async ({
  annotate,
}) => {
  const scene = await makeScene();
  const { sql } = scene.site.postgres;
  const rows = async (): Promise<number> =>
    Number(await sql(scene.url, 'select count(*) from ralph.task'));
  const lines = Array.from({ length: COUNT }, (_, at) =>
    JSON.stringify({ task_id: `t${at}`, prompt: `Do the work ${at}.`, repo: scene.origin.url }),
  );
  const submit = (text: readonly string[]) =>
    scene.ralph(['submit', '--batch', '-'], { input: `${text.join('\n')}\n` });

  const bad = await submit(
    lines.with(7_776, '{"task_id":"bad","prompt":"x","repo":"ext::sh -c true"}'),
  );
  expect([bad.exitCode, bad.stdout, await rows()]).toEqual([2, '', 0]);
  expect(bad.stderr).toMatch(/\b7777\b/);

  const first = await submit(lines);
  expect([first.exitCode, first.stderr]).toEqual([0, expect.any(String)]);
  expect(first.stdout.split('\n').filter(Boolean)).toEqual(
    Array.from({ length: COUNT }, (_, at) => `t${at}`),
  );
  expect(await rows()).toBe(COUNT);
  expect(first.durationMs).toBeLessThan(TIME_MS);
  const size = await sql(
    scene.url,
    `select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname in ('ralph', 'ralph_queue')`,
  );
  await annotate(`${Math.round(first.durationMs)} ms, ${size} bytes`);
  expect(Number(size)).toBeLessThan(MOST_BYTES);

  const again = await submit(lines);
  expect([again.exitCode, await rows()]).toEqual([0, COUNT]);
});

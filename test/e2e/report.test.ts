import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const KEY = `sk-ant-api03-${'A1b2C3d4'.repeat(10)}`;

/** A task that was completed, and one whose iterations ran out. */
async function worked(): Promise<Scene> {
  const scene = await makeScene([
    { text: 'Half.', costUsd: 0.25 },
    { text: 'Whole.\n\n<promise>TASK_COMPLETE</promise>', costUsd: 0.5 },
    { text: `My key is ${KEY} <script>alert(1)</script>` },
  ] as never);
  await scene.run();
  await scene.run(['--task-id', 'u', '--max-iterations', '1']);
  return scene;
}

describe('ralph report', () => {
  test('tells in Markdown what needs a person, and what was done', async () => {
    const scene = await worked();
    const { exitCode, stdout, stderr } = await scene.ralph(['report']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('1 task completed, 1 failed, 0 waiting, 0 running: 3 iterations');
    expect(stdout).toContain('- **u** out of iterations');
    expect(stdout).toContain(`cd ${scene.folder} && ralph resume u --max-iterations +5`);
    expect(stdout).toMatch(/\| t \| completed \|/);
    expect(stdout).not.toContain(KEY);
  });

  test('is JSON with --json', async () => {
    const scene = await worked();
    const report = JSON.parse((await scene.ralph(['report', '--json', '--since', '2h'])).stdout);
    expect(report.totals).toMatchObject({ completed: 1, failed: 1, iterations: 3 });
    expect(report.needs_person).toMatchObject([
      { kind: 'task', task_id: 'u', state: 'max_iterations_reached' },
    ]);
    expect(JSON.stringify(report)).not.toContain(KEY);
  });

  test('changes nothing, and makes no folder', async () => {
    const scene = await makeScene();
    const { exitCode, stdout } = await scene.ralph(['report']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Nothing.');
    expect(scene.names()).toEqual([]);
  });

  test('leaves out what lies before the span', async () => {
    const scene = await worked();
    const { stdout } = await scene.ralph(['report', '--json', '--since', '1ms']);
    expect(JSON.parse(stdout).totals.iterations).toBe(0);
  });

  test.for(['soon', '0', '-1d'])('wants a span: %s', async (since) => {
    const { exitCode, stderr } = await (await makeScene()).ralph(['report', `--since=${since}`]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--since expects a duration such as 7d');
  });

  test('writes a page that holds everything in itself, for its owner alone', async () => {
    const scene = await worked();
    const { exitCode, stdout, stderr } = await scene.ralph(['report', '--html', 'r.html']);
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toBe(`ralph: the report is in ${join(scene.folder, 'r.html')}\n`);
    const page = scene.read('r.html');
    expect(page).toContain('1 thing needs you');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('<script');
    expect(page).not.toContain(KEY);
    expect(statSync(join(scene.folder, 'r.html')).mode & 0o777).toBe(0o600);
  });

  test('says where a page cannot be written', async () => {
    const scene = await makeScene();
    const { exitCode, stderr } = await scene.ralph(['report', '--html', 'no/such/r.html']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--html expects a writable file');
  });
});

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

describe.skipIf(CHROMIUM === undefined)('the page in Chromium (apt-get install chromium)', () => {
  test('is taken as it is, and a link to a task opens it', async () => {
    const scene = await worked();
    await scene.ralph(['report', '--html', 'r.html']);
    const profile = await tempFolder();
    const args = [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', '--v=0'],
      ...[`--user-data-dir=${profile}`, '--virtual-time-budget=2000', '--dump-dom'],
      `file://${join(scene.folder, 'r.html')}#task-1`,
    ];
    const dom = execFileSync(CHROMIUM ?? '', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PATIENCE_MS,
      env: { HOME: profile, PATH: '/usr/bin:/bin' },
    });
    expect(dom).toContain('1 thing needs you');
    expect(dom).toMatch(/<details class="card task" open="">/);
  });
});

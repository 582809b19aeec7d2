import { utimesSync, writeFileSync } from 'node:fs';
import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const DONE: Turn = { text: 'All of it.\n\nTASK_COMPLETE' };
const RESCUED: Turn = { text: 'All of it.\n\nProcessing complete' };
const NOT_LOGGED_IN: Turn = {
  isError: true,
  text: 'Not logged in · Please run /login',
  numTurns: 1,
  costUsd: 0,
};

/** Resolves once it holds; rejects after a while. */
async function until(what: string, holds: () => boolean, timeoutMs = PATIENCE_MS): Promise<void> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await sleep(20)) {
    if (holds()) return;
  }
  throw new Error(`It did not come to pass within ${timeoutMs} ms: ${what}`);
}

async function stuck(scene: Scene, path: string): Promise<void> {
  await scene.write(path, 'Answer the letter.\n');
  const then = Date.now() / 1_000 - 25 * 60;
  utimesSync(join(scene.folder, path), then, then);
}

const QUICK = ['watch', '--interval', '50ms', '--delay', '0'] as const;

describe('ralph watch', () => {
  test('starts what lands in Needs_Action, once, though two of them watch', async () => {
    const scene = await makeScene({ ...DONE, delayMs: 300 });
    const first = await scene.start([...QUICK, '--start-new']);
    const second = await scene.start([...QUICK, '--start-new', '--concurrency', '2'], {});
    await Promise.all([first, second].map((each) => each.untilStderr(/watching In_Progress and/)));
    for (const name of ['one.md', 'two.txt', 'three.md']) {
      await scene.write(`Needs_Action/${name}`, 'Answer the letter.\n');
    }
    await until('three are done', () => scene.names('Done').length === 3);
    // Both have looked again by the time this one is done.
    await scene.write('Needs_Action/late.md', 'Answer the letter.\n');
    await until('the late one is done', () => scene.names('Done').length === 4);
    first.child.kill('SIGTERM');
    second.child.kill('SIGINT');
    expect((await first.ended).exitCode).toBe(143);
    expect((await second.ended).exitCode).toBe(130);
    expect(scene.fake.calls()).toHaveLength(4);
    const told = `${first.stdout()}${second.stdout()}`;
    for (const name of ['one.md', 'two.txt', 'three.md', 'late.md']) {
      expect(told.split(`${name}: started and completed`)).toHaveLength(2);
    }
    expect(scene.names('Needs_Action')).toEqual([]);
    expect(scene.names('In_Progress')).toEqual([]);
  });

  test('rescues once, though two of them watch', async () => {
    const scene = await makeScene({ ...RESCUED, delayMs: 100 });
    const names = ['a.md', 'b.md', 'c.md', 'd.md'];
    for (const name of names) await stuck(scene, `In_Progress/${name}`);
    const watches = await Promise.all([1, 2].map(() => scene.start(QUICK)));
    await until('they are done', () => scene.names('Done').length === names.length);
    await stuck(scene, 'In_Progress/late.md');
    await until('the next is done', () => scene.names('Done').length === names.length + 1);
    for (const each of watches) each.child.kill('SIGTERM');
    const ends = await Promise.all(watches.map(({ ended }) => ended));
    for (const { exitCode, stdout } of ends) {
      expect(exitCode).toBe(143);
      expect(stdout).not.toContain('problem');
    }
    expect(scene.fake.calls()).toHaveLength(names.length + 1);
  });

  test('starts no notes, no links, and nothing half-written; a task that fails ends nothing', async () => {
    const scene = await makeScene([{ before: ['On it.'], exitCode: 3, noResult: true }, DONE]);
    await mkdir(join(scene.folder, 'Needs_Action'));
    for (const name of ['.hidden.md', 'x.md.part', 'y.tmp', 'z.pdf', '~w.md', 'empty.md']) {
      await scene.write(`Needs_Action/${name}`, name === 'empty.md' ? '' : 'No.\n');
    }
    await scene.write('Needs_Action/RALPH_FAILED_x_20260101T000000Z.md', 'No.\n');
    await scene.write('Needs_Action/invoice_payment.md', 'Pay them.\n');
    await stuck(scene, 'Needs_Action/a-fails.md');
    await scene.write('Needs_Action/b-works.md', 'Yes.\n');
    const watch = await scene.start([...QUICK, '--start-new', '--max-iterations', '1'], {});
    await until('the good one is done', () => scene.names('Done').length === 1);
    await until('the payment is told', () => watch.stdout().includes('left to a human'));
    watch.child.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await watch.ended;
    expect(exitCode).toBe(143);
    expect(stderr).toContain('ralph: b-works: completed: Yes.\n');
    expect(scene.names('Done')).toEqual(['b-works.md']);
    expect(scene.names('In_Progress')).toEqual(['a-fails.md']);
    expect(stdout).toMatch(
      /a-fails\.md: started as a-fails, not completed: max iterations reached/,
    );
    expect(stdout).toMatch(/invoice_payment\.md: left to a human/);
    expect(scene.fake.calls()).toHaveLength(2);
    const notes = scene.names('Needs_Action').filter((name) => name.startsWith('RALPH_'));
    expect(notes).toEqual([
      expect.stringMatching(/^RALPH_EXHAUSTED_a-fails_/),
      'RALPH_FAILED_x_20260101T000000Z.md',
      expect.stringMatching(/^RALPH_HUMAN_invoice_payment_/),
    ]);
  });

  test('begins a good task beside one whose front matter would take minutes to read', async () => {
    const scene = await makeScene(DONE);
    const keys = Array.from({ length: 90_000 }, (_, n) => `k${n}`).join(',');
    await scene.write('Needs_Action/a-large.md', `---\na: {${keys}}\n---\nAnswer the letter.\n`);
    await scene.write('Needs_Action/b-good.md', 'Answer the letter.\n');
    const watch = await scene.start([...QUICK, '--start-new']);
    await until('the good one is done', () => scene.names('Done').length === 1);
    await until('the other is told', () => watch.stdout().includes('a-large.md: left to a human'));
    watch.child.kill('SIGTERM');
    expect((await watch.ended).exitCode).toBe(143);
    expect(scene.names('Done')).toEqual(['b-good.md']);
  });

  // Not all systems have such names.
  test.runIf(process.platform === 'linux')('says once that a name is no text', async () => {
    const scene = await makeScene(DONE);
    await scene.write('Needs_Action/good.md', 'Answer the letter.\n');
    const names = ['f\xff.md', 'f\xfe.md'].map((name) => Buffer.from(name, 'latin1'));
    for (const name of names) {
      const file = Buffer.concat([Buffer.from(`${scene.folder}/Needs_Action/`), name]);
      writeFileSync(file, 'Answer the letter.\n');
    }
    const watch = await scene.start([...QUICK, '--start-new']);
    await until('the good one is done', () => scene.names('Done').length === 1);
    // Another pass has been made by the time this one is done.
    await scene.write('Needs_Action/late.md', 'Answer the letter.\n');
    await until('the late one is done', () => scene.names('Done').length === 2);
    watch.child.kill('SIGTERM');
    const { stdout } = await watch.ended;
    for (const name of ['f\\xff.md', 'f\\xfe.md']) {
      expect(stdout.split(`Needs_Action/${name}: left: its name is not valid text\n`)).toHaveLength(
        2,
      );
    }
    expect(scene.fake.calls()).toHaveLength(2);
  });

  test('rests where nothing can be worked on, and a signal ends the rest', async () => {
    const scene = await makeScene(NOT_LOGGED_IN);
    await stuck(scene, 'In_Progress/a.md');
    await stuck(scene, 'In_Progress/b.md');
    const watch = await scene.start(QUICK);
    await watch.untilStderr(/cannot process any file \(failed:not-logged-in\); trying again in 1m/);
    watch.child.kill('SIGHUP');
    expect((await watch.ended).exitCode).toBe(129);
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('a signal ends its loop too, and the next pass goes on with it', async () => {
    const scene = await makeScene([{ hangs: true }, RESCUED]);
    await stuck(scene, 'In_Progress/a.md');
    const watch = await scene.start(QUICK);
    await scene.fake.untilCalls(1);
    watch.child.kill('SIGTERM');
    const { exitCode, stdout } = await watch.ended;
    expect(exitCode).toBe(143);
    expect(stdout).toContain('a.md: rescued as stuck_a, not completed: stopped');
    expect(scene.state('stuck_a').status).toBe('stopped');
    const { stdout: after } = await scene.ralph(['rescue']);
    expect(after).toBe('In_Progress/a.md: resumed and completed as stuck_a\n');
  });

  test('ralph stop ends one loop, and the watch goes on', async () => {
    const scene = await makeScene([{ hangs: true }, RESCUED]);
    await stuck(scene, 'In_Progress/a.md');
    await stuck(scene, 'In_Progress/b.md');
    const watch = await scene.start(QUICK);
    await scene.fake.untilCalls(1);
    expect((await scene.ralph(['stop', 'stuck_a'])).exitCode).toBe(0);
    await until('the other is done', () => scene.names('Done').length === 1);
    watch.child.kill('SIGTERM');
    const { stdout } = await watch.ended;
    expect(scene.names('Done')).toEqual(['b.md']);
    expect(stdout).toContain('stopped:request');
    expect(scene.names('In_Progress')).toEqual(['a.md']);
  });

  test('what is two names of one file is moved as one', async () => {
    const scene = await makeScene(RESCUED);
    await stuck(scene, 'In_Progress/a.md');
    await link(join(scene.folder, 'In_Progress/a.md'), join(scene.folder, 'kept.md'));
    expect((await scene.ralph(['rescue'])).exitCode).toBe(0);
    expect(scene.names('Done')).toEqual(['a.md']);
    expect(scene.has('kept.md')).toBe(true);
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProgram, untilLine, untilReady } from '../../helpers/processes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-signals-'));
  await build({
    absWorkingDir: root,
    entryPoints: ['test/fixtures/signal-watcher.ts'],
    outfile: join(folder, 'watcher.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function startWatcher() {
  const child = startProgram(process.execPath, [join(folder, 'watcher.mjs')]);
  const { watcher } = await untilReady(child.stdout, 'watcher');
  return {
    child,
    signal: (name: NodeJS.Signals) => process.kill(watcher, name),
    tell: (order: string) => child.stdin?.write(`${order}\n`),
    untilLine: (pattern: RegExp) => untilLine(child.stdout, pattern),
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

describe('a signal', () => {
  test.for(SIGNALS)('%s asks for a stop, is its cause, and ends nothing', async (name) => {
    const { signal, tell, untilLine: line } = await startWatcher();
    tell('tell');
    await line(/^told false false null;$/m);
    signal(name);
    await line(new RegExp(`^stop ${name};$`, 'm'));
    tell('tell');
    await line(new RegExp(`^told true false ${name};$`, 'm'));
  });

  test.for(SIGNALS)('%s a second time asks for a hurry', async (name) => {
    const { signal, tell, untilLine: line } = await startWatcher();
    signal(name);
    await line(new RegExp(`^stop ${name};$`, 'm'));
    tell('later');
    await line(/^later$/m);
    signal(name);
    await line(new RegExp(`^hurry ${name};$`, 'm'));
  });

  test.for(SIGNALS)('%s that npx passes on, too, asks for no hurry', async (name) => {
    const { signal, tell, untilLine: line } = await startWatcher();
    signal(name);
    await line(new RegExp(`^stop ${name};$`, 'm'));
    signal(name);
    tell('tell');
    await line(new RegExp(`^told true false ${name};$`, 'm'));
  });

  test('asks for a hurry at once where something else has asked for a stop before', async () => {
    const { signal, tell, untilLine: line } = await startWatcher();
    tell('ask');
    await line(/^stop request;$/m);
    signal('SIGINT');
    await line(/^hurry request;$/m);
  });

  test('of another kind is a second one, too, and the first stays the cause', async () => {
    const { signal, tell, untilLine: line } = await startWatcher();
    signal('SIGTERM');
    await line(/^stop SIGTERM;$/m);
    tell('later');
    await line(/^later$/m);
    signal('SIGINT');
    await line(/^hurry SIGTERM;$/m);
    signal('SIGHUP');
    signal('SIGINT');
    tell('tell');
    await line(/^told true true SIGTERM;$/m);
  });

  test.for(SIGNALS)('%s ends the process as ever once the watch is over', async (name) => {
    const { child, signal, tell, untilLine: line } = await startWatcher();
    tell('close');
    await line(/^closed$/m);
    const exited = once(child, 'exit');
    signal(name);
    expect(await exited).toEqual([null, name]);
  });
});

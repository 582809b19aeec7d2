import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { thisDriver, thisPlace } from '../../../src/effects/lock/driver-identity.ts';
import { claimTask } from '../../../src/effects/lock/task-lock.ts';
import { openTaskLogs } from '../../../src/effects/state/task-logs.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const now = (): string => new Date().toISOString();
const LOG = 'iteration-0001.stdout.log';

/** A running task `t` whose first iteration has said `one`; `end` writes its state without a driver. */
async function runningTask() {
  const stateDir = await tempFolder();
  const folder = join(stateDir, 't');
  const write = (driver: object | null): void => {
    const state = { ...newTask(), task_id: 't', status: 'running', driver };
    writeFileSync(join(stateDir, 't.json'), JSON.stringify(state));
  };
  const driver = thisDriver(now(), 'run-1');
  write(driver);
  mkdirSync(folder);
  writeFileSync(join(folder, LOG), 'one ');
  return { stateDir, folder, driver, end: () => write(null) };
}

/** Follows the logs of `t`, and calls `act` once it has read `one`. Resolves to all texts of standard output. */
async function followed(stateDir: string, act: () => void): Promise<readonly string[]> {
  const texts: string[] = [];
  const logs = openTaskLogs(stateDir, 't')?.read({ iteration: null, follow: true }) ?? [];
  for await (const piece of logs) {
    if (piece.kind !== 'stdout') continue;
    texts.push(piece.chunk.toString());
    if (texts.length === 1) act();
  }
  return texts;
}

describe('the logs of a task, followed', () => {
  test('go on while a driver runs that could store no claim', async () => {
    const { stateDir, folder, end } = await runningTask();
    const texts = await followed(stateDir, () => {
      setImmediate(() => {
        appendFileSync(join(folder, LOG), 'two');
        end();
      });
    });
    expect(texts.join('')).toBe('one two');
  });

  test('are those of one run, even if another of the same id follows at once', async () => {
    const { stateDir, folder, driver, end } = await runningTask();
    const claimed = await claimTask(stateDir, 't', driver, () => thisPlace(now()));
    onTestFinished(() => {
      if (claimed.kind === 'held') claimed.claim.release();
    });
    const texts = await followed(stateDir, () => {
      appendFileSync(join(folder, LOG), 'two');
      mkdirSync(join(stateDir, 'history'));
      renameSync(folder, join(stateDir, 'history/t.2026-11-29T110000.000Z'));
      mkdirSync(folder);
      writeFileSync(join(folder, LOG), 'of another run');
      end();
    });
    expect(texts.join('')).toBe('one two');
  });
});

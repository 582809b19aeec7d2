import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepGuard } from '../../../src/effects/agents/kept-guard.ts';
import { createClaimLease } from '../../../src/effects/processes/lease.ts';
import { momentNow } from '../../../src/effects/time/clock-reading.ts';
import { until } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LEASE_MS = 60_000;

/** A guard that writes down what it is told. */
async function noting(): Promise<{ readonly program: string; readonly told: string }> {
  const folder = await tempFolder();
  const [program, told] = [join(folder, 'guard.cjs'), join(folder, 'told')];
  const script = `const { appendFileSync } = require('node:fs');
process.stdin.on('data', (lines) => appendFileSync(${JSON.stringify(told)}, process.pid + ' ' + lines));`;
  writeFileSync(program, script);
  return { program, told };
}

test('a guard of a fleet that dies during an attempt is replaced at once, once, and knows what runs', async () => {
  const { program, told } = await noting();
  const lease = createClaimLease(LEASE_MS, momentNow(), new AbortController().signal);
  const warned: string[] = [];
  const warn = (sentence: string): void => void warned.push(sentence);
  const kept = keepGuard({ runId: 'run', guardProgram: program, lease, warn });
  const read = (): string => (existsSync(told) ? readFileSync(told, 'utf8') : '');
  const isNotedBy = (pid: number | null): boolean =>
    read().split(`${pid} `).slice(1).join('').includes('note 12345:678');
  try {
    const { pid: first, note } = kept.inForce();
    note([{ pid: 12_345, startedAt: '678' }]);
    await until(() => isNotedBy(first), read);
    process.kill(first ?? 0, 'SIGKILL');
    await until(() => kept.pids()[0] !== first, read);
    const [second = 0] = kept.pids();
    await until(() => isNotedBy(second), read);
    expect(warned).toEqual([]);
    process.kill(second, 'SIGKILL');
    await until(() => warned.length > 0, read);
    expect(warned).toEqual([expect.stringMatching(/^There is no guard \(it ended \(SIGKILL\)\)/)]);
    // The next attempt gets one again.
    expect(kept.inForce().pid).not.toBe(second);
  } finally {
    kept.dismiss();
  }
});

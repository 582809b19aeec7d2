import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runMeasuredCommand } from '../../../src/effects/processes/measured-command.ts';
import { newRunId, stopsByHand } from '../../helpers/agent-life.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function run(command: string, cwd?: string) {
  return runMeasuredCommand(command, {
    cwd: cwd ?? (await tempFolder()),
    env: { PATH: process.env.PATH, RALPH_RUN_ID: newRunId() },
    timeoutMs: 60_000,
    stops: stopsByHand(),
  });
}

describe('a measured command', () => {
  test('says which tests failed, even where that stands in the middle of a long output', async () => {
    const lines = 'i=0; while [ $i -lt 4000 ]; do echo "line $i"; i=$((i+1)); done';
    const result = await run(
      `${lines}; echo "FAILED a.py::adds - x"; echo "1 failed, 2 passed in 0.01s"; ${lines}; exit 1`,
    );
    expect(result).toMatchObject({ exitCode: 1, tests: 3, failed: ['a.py::adds'] });
    expect(result.output).not.toContain('FAILED');
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
    expect(Date.parse(result.startedAt)).not.toBeNaN();
  });

  test('adds up what both streams count', async () => {
    const result = await run('echo "2 passed in 0.01s"; echo "3 passed in 0.02s" >&2');
    expect(result).toMatchObject({ exitCode: 0, tests: 5, failed: [] });
  });

  test('counts the last try of a command that is run again where it failed', async () => {
    const cwd = await tempFolder();
    await writeFile(
      join(cwd, 'suite.sh'),
      'echo suite; test -f tried && exec echo "3 passed in 0.02s"; : > tried; echo "FAILED a.py::adds - no"; echo "1 failed, 2 passed in 0.01s"; exit 1\n',
    );
    const result = await run('sh suite.sh || (echo again; sh suite.sh)', cwd);
    expect(result).toMatchObject({ exitCode: 0, tests: 3, failures: 0, failed: [] });
  });

  test('has the checksum of its whole output, and knows no tests where none are told', async () => {
    const text = `${'ü'.repeat(40_000)}\n`;
    const result = await run(`node -e 'process.stdout.write("ü".repeat(40_000) + "\\n")'`);
    const outputSha256 = createHash('sha256').update(text).digest('hex');
    expect(result).toMatchObject({ tests: null, failed: null, outputSha256 });
  });
});

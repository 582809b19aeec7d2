import { describe, expect, test } from 'vitest';
import { userCommands } from '../../src/compose/user-commands.ts';
import type { CommandResult } from '../../src/core/completion/command-result.ts';
import type { RalphEvent } from '../../src/core/machine/events.ts';
import { succeeded } from '../fixtures/observer-request.ts';
import { HOSTILE, hostileSign } from '../helpers/hostile-signs.ts';

const EVENT: RalphEvent = {
  event: 'iteration_started',
  at: '2026-01-02T03:04:05.678Z',
  task_id: 'T1',
  iteration: 1,
  max_iterations: 5,
  attempt: 1,
  timeout_at: '2026-01-02T03:34:05.678Z',
  usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
};
const LINE = `${JSON.stringify(EVENT)}\n`;

const noChecks = async (): Promise<never> => {
  throw new Error('no check is run here');
};

/** Commands that all end alike, and what was run and told. */
function commandsThat(end: Partial<CommandResult> = {}, hasEnd = true) {
  const ran: string[] = [];
  const told: string[] = [];
  const run = async (command: string, input: string): Promise<CommandResult> => {
    ran.push(`${command} < ${input}`);
    return { ...succeeded(command), ...end };
  };
  const runEnd = hasEnd ? (input: string) => run('end', input) : null;
  const commands = userCommands(noChecks, run, runEnd, (sentence) => told.push(sentence));
  return { commands, ran, told };
}

describe('--after and --on-end', () => {
  test('get the event as one line of JSON on their standard input', async () => {
    const { commands, ran } = commandsThat();
    await commands.after('git push', EVENT);
    await commands.ended(EVENT);
    expect(ran).toEqual([`git push < ${LINE}`, `end < ${LINE}`]);
    const hostile = { ...EVENT, task_id: HOSTILE };
    await commands.after('git push', hostile);
    const [, input = ''] = ran.pop()?.split(' < ') ?? [];
    expect(hostileSign(input)).toBeNull();
    expect(JSON.parse(input)).toEqual(hostile);
  });

  test.for([{ exitCode: 2 }, { exitCode: null, timedOut: true }])(
    'are spoken of if they do not succeed: %o',
    async (end) => {
      const { commands, told } = commandsThat(end);
      await commands.after('git push', EVENT);
      await commands.ended(EVENT);
      expect(told).toEqual([
        expect.stringContaining('--after'),
        expect.stringContaining('--on-end'),
      ]);
    },
  );

  test('cause no warning if they succeed, or if there are none', async () => {
    const one = commandsThat();
    await one.commands.after('true', EVENT);
    await one.commands.ended(EVENT);
    const other = commandsThat({ exitCode: 1 }, false);
    await other.commands.ended(EVENT);
    expect([...one.told, ...other.told, ...other.ran]).toEqual([]);
  });
});

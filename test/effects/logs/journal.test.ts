import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { stamped } from '../../../src/core/machine/events.ts';
import { createJournal } from '../../../src/effects/logs/journal.ts';
import { readJournal } from '../../../src/effects/logs/journal-reader.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** So many bytes are there room for; null: enough. */
let roomBytes: number | null = null;
/** What happens when there is no more room. */
let whenFull = (): void => {};
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof import('node:fs')>();
  const writeSync = (descriptor: number, bytes: Uint8Array, from = 0): number => {
    if (roomBytes === null) return actual.writeSync(descriptor, bytes, from);
    if (roomBytes === 0) {
      whenFull();
      throw new Error('ENOSPC: no space left on device, write');
    }
    const length = Math.min(roomBytes, bytes.length - from);
    roomBytes -= length;
    return actual.writeSync(descriptor, bytes, from, length);
  };
  return { ...actual, writeSync };
});
afterEach(() => {
  roomBytes = null;
  whenFull = () => {};
});

const noWarning = (error: unknown): void => {
  throw error;
};

const AT = '2026-01-02T03:04:05.678Z';
const event = (prompt: string, taskId = 'T1') =>
  stamped({ event: 'task_started', prompt, max_iterations: 5 }, AT, taskId);

describe('the journal', () => {
  test('has one event a line, whatever stands in it', async () => {
    const file = join(await tempFolder(), 'state', 'events.jsonl');
    const journal = createJournal(file, noWarning);
    const prompts = ['one', 'two\nlines\r\n', '\u2028 "quoted" \u{1F600}\0'];
    for (const prompt of prompts) journal.append(event(prompt));
    journal.close();
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(prompts.map((prompt) => event(prompt)));
    expect(lines[0]).toMatch(
      /^\{"event":"task_started","at":"2026-01-02T03:04:05.678Z","task_id":"T1",/,
    );
  });

  test('holds nothing raw that acts on a terminal', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file, noWarning);
    journal.append(event(HOSTILE));
    journal.close();
    const text = readFileSync(file, 'utf8');
    expect(hostileSign(text)).toBeNull();
    expect(JSON.parse(text)).toEqual(event(HOSTILE));
  });

  test('does not grow with every word of a talkative agent, and notes every tool', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file, noWarning);
    const said = { kind: 'text', text: 'And another thing.' } as const;
    const did = { kind: 'tool', tool: 'Bash', target: 'npm test' } as const;
    for (let turn = 0; turn < 5_000; turn += 1) {
      for (const activity of turn % 50 === 0 ? [said, did] : [said]) {
        const body = { event: 'agent_activity', iteration: 1, activity } as const;
        journal.append(stamped(body, '2026-01-02T03:04:05.678Z', 'T1'));
      }
    }
    journal.close();
    const text = readFileSync(file, 'utf8');
    expect(text.match(/"tool"/g)?.length).toBe(200);
    expect(text.split('\n').length).toBeLessThan(1_000);
  });

  test('does not grow without bound with the tools of an agent that runs wild', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file, noWarning);
    const did = { kind: 'tool', tool: 'Bash', target: 'npm test' } as const;
    const body = { event: 'agent_activity', iteration: 1, activity: did } as const;
    let told = 0;
    for (let call = 0; call < 20_000; call += 1) {
      if (!journal.hasRoom('tool')) continue;
      told += 1;
      journal.append(stamped(body, '2026-01-02T03:04:05.678Z', 'T1'));
    }
    journal.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(told);
    expect(lines.length).toBeGreaterThanOrEqual(1_000);
    expect(lines.length).toBeLessThan(10_000);
  });

  test('is for its owner alone', async () => {
    const folder = join(await tempFolder(), 'state');
    const journal = createJournal(join(folder, 'events.jsonl'), noWarning);
    journal.append(event('x'));
    journal.close();
    const modes = [folder, join(folder, 'events.jsonl')].map((file) => statSync(file).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  test('is not there before the first event', async () => {
    const folder = join(await tempFolder(), 'state');
    createJournal(join(folder, 'events.jsonl'), noWarning).close();
    expect(existsSync(folder)).toBe(false);
  });

  test('grows over the runs, of two drivers at once, too', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    await writeFile(file, '{"event":"old"}\n');
    const [one, two] = [createJournal(file, noWarning), createJournal(file, noWarning)];
    one.append(event('1'));
    two.append(event('2'));
    one.append(event('3'));
    one.close();
    two.close();
    const names = readFileSync(file, 'utf8').trim().split('\n');
    expect(names.map((line) => JSON.parse(line).prompt)).toEqual([undefined, '1', '2', '3']);
  });

  test('is on disk with each event, not at the end', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file, noWarning);
    journal.append(event('x'));
    expect(readFileSync(file, 'utf8')).toContain('"x"');
    journal.close();
  });

  test('is begun anew where the agent has deleted its folder', async () => {
    const folder = join(await tempFolder(), 'state');
    const file = join(folder, 'events.jsonl');
    const journal = createJournal(file, noWarning);
    journal.append(event('1'));
    rmSync(folder, { recursive: true });
    journal.append(event('2'));
    journal.close();
    expect(promptsIn(file)).toEqual(['2']);
  });
});

/** Of every line, which has to be an event. */
function promptsIn(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line).prompt);
}

describe('a journal that cannot be written', () => {
  async function setUp() {
    const file = join(await tempFolder(), 'events.jsonl');
    const warn = vi.fn();
    return { file, warn, journal: createJournal(file, warn) };
  }

  test('is tried again with the next event, loses nothing, and is said once', async () => {
    const { file, warn, journal } = await setUp();
    journal.append(event('1'));
    roomBytes = 0;
    for (const prompt of ['2', '3', '4']) journal.append(event(prompt));
    expect(promptsIn(file)).toEqual(['1']);
    roomBytes = null;
    journal.append(event('5'));
    expect(promptsIn(file)).toEqual(['1', '2', '3', '4', '5']);
    roomBytes = 0;
    journal.append(event('6'));
    roomBytes = null;
    journal.close();
    expect(promptsIn(file)).toHaveLength(6);
    expect(warn.mock.calls).toEqual([[new Error('ENOSPC: no space left on device, write')]]);
  });

  test('has no torn line in its midst, however much of one there was room for', async () => {
    for (let room = 1; room < 130; room += 1) {
      const { file, journal } = await setUp();
      journal.append(event('1'));
      roomBytes = room;
      journal.append(event('2'));
      expect(promptsIn(file)[0]).toBe('1');
      roomBytes = null;
      journal.append(event('3'));
      journal.close();
      expect(promptsIn(file)).toEqual(['1', '2', '3']);
    }
  });

  test('leaves what another driver has written behind its own torn line', async () => {
    const { file, journal } = await setUp();
    const other = createJournal(file, noWarning);
    roomBytes = 10;
    whenFull = () => {
      roomBytes = null;
      other.append(event('2', 'T2'));
    };
    journal.append(event('1'));
    journal.append(event('3'));
    other.close();
    journal.close();
    const whole = [event('2', 'T2'), event('1'), event('3')].map((each) => JSON.stringify(each));
    const torn = JSON.stringify(event('1')).slice(0, 10);
    expect(readFileSync(file, 'utf8')).toBe(`${[torn, ...whole].join('\n')}\n`);
  });

  test('keeps the newest events and no more of what the agent does, within bounds', async () => {
    const { file, journal } = await setUp();
    roomBytes = 0;
    for (let number = 1; number <= 2_000; number += 1) journal.append(event(`${number}`));
    expect(journal.hasRoom('tool')).toBe(false);
    roomBytes = null;
    journal.close();
    const prompts = promptsIn(file);
    expect(prompts.at(-1)).toBe('2000');
    expect(prompts.length).toBeGreaterThan(1_000);
    expect(statSync(file).size).toBeLessThan(210_000);
  });

  test('has room for what the agent does as soon as it can be written again', async () => {
    const { journal } = await setUp();
    roomBytes = 0;
    journal.append(event('1'));
    expect(journal.hasRoom('tool')).toBe(false);
    roomBytes = null;
    journal.append(event('2'));
    expect(journal.hasRoom('tool')).toBe(true);
    journal.close();
  });

  test('is done without in a folder that cannot be', async () => {
    const blocked = join(await tempFolder(), 'file');
    await writeFile(blocked, '');
    const warn = vi.fn();
    const journal = createJournal(join(blocked, 'events.jsonl'), warn);
    journal.append(event('x'));
    journal.append(event('y'));
    journal.close();
    journal.close();
    expect(readFileSync(blocked, 'utf8')).toBe('');
    expect(warn).toHaveBeenCalledOnce();
  });

  test.skipIf(!existsSync('/dev/full'))('is done without on a full disk', () => {
    const warn = vi.fn();
    const journal = createJournal('/dev/full', warn);
    journal.append(event('x'));
    journal.append(event('y'));
    journal.close();
    expect(warn).toHaveBeenCalledOnce();
  });
});

describe('a last line that somebody has left torn', () => {
  const TORN = JSON.stringify(event('torn')).slice(0, 40);

  test('swallows nothing of the next task', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    await writeFile(file, TORN);
    const journal = createJournal(file, noWarning);
    journal.append(event('whole', 'T2'));
    journal.close();
    expect(await readJournal(file, '')).toMatchObject([{ taskId: 'T2' }]);
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      TORN,
      JSON.stringify(event('whole', 'T2')),
      '',
    ]);
  });

  test('swallows nothing either where it comes while the journal is open', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file, noWarning);
    journal.append(event('1'));
    appendFileSync(file, TORN);
    journal.append(event('2', 'T2'));
    journal.close();
    expect(await readJournal(file, '')).toMatchObject([{ taskId: 'T1' }, { taskId: 'T2' }]);
  });
});

import { existsSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stamped } from '../../src/core/events.ts';
import { createJournal } from '../../src/effects/journal.ts';
import { HOSTILE, hostileSign } from '../helpers/hostile-signs.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const event = (prompt: string) =>
  stamped({ event: 'task_started', prompt, max_iterations: 5 }, '2026-01-02T03:04:05.678Z', 'T1');

describe('the journal', () => {
  it('has one event a line, whatever stands in it', async () => {
    const file = join(await tempFolder(), 'state', 'events.jsonl');
    const journal = createJournal(file);
    const prompts = ['one', 'two\nlines\r\n', '\u2028 "quoted" \u{1F600}\0'];
    for (const prompt of prompts) journal.append(event(prompt));
    journal.close();
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(prompts.map(event));
    expect(lines[0]).toMatch(
      /^\{"event":"task_started","at":"2026-01-02T03:04:05.678Z","task_id":"T1",/,
    );
  });

  it('holds nothing raw that acts on a terminal', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file);
    journal.append(event(HOSTILE));
    journal.close();
    const text = readFileSync(file, 'utf8');
    expect(hostileSign(text)).toBeNull();
    expect(JSON.parse(text)).toEqual(event(HOSTILE));
  });

  it('does not grow with every word of a talkative agent, and notes every tool', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file);
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

  it('does not grow without bound with the tools of an agent that runs wild', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file);
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

  it('is for its owner alone', async () => {
    const folder = join(await tempFolder(), 'state');
    const journal = createJournal(join(folder, 'events.jsonl'));
    journal.append(event('x'));
    journal.close();
    const modes = [folder, join(folder, 'events.jsonl')].map((file) => statSync(file).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it('is not there before the first event', async () => {
    const folder = join(await tempFolder(), 'state');
    createJournal(join(folder, 'events.jsonl')).close();
    expect(existsSync(folder)).toBe(false);
  });

  it('grows over the runs, of two drivers at once, too', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    await writeFile(file, '{"event":"old"}\n');
    const [one, two] = [createJournal(file), createJournal(file)];
    one.append(event('1'));
    two.append(event('2'));
    one.append(event('3'));
    one.close();
    two.close();
    const names = readFileSync(file, 'utf8').trim().split('\n');
    expect(names.map((line) => JSON.parse(line).prompt)).toEqual([undefined, '1', '2', '3']);
  });

  it('is on disk with each event, not at the end', async () => {
    const file = join(await tempFolder(), 'events.jsonl');
    const journal = createJournal(file);
    journal.append(event('x'));
    expect(readFileSync(file, 'utf8')).toContain('"x"');
    journal.close();
  });

  it('is done without where it cannot be written', async () => {
    const blocked = join(await tempFolder(), 'file');
    await writeFile(blocked, '');
    const journal = createJournal(join(blocked, 'events.jsonl'));
    journal.append(event('x'));
    journal.append(event('y'));
    journal.close();
    journal.close();
    expect(readFileSync(blocked, 'utf8')).toBe('');
  });

  it.skipIf(!existsSync('/dev/full'))('is done without on a full disk', () => {
    const journal = createJournal('/dev/full');
    journal.append(event('x'));
    journal.append(event('y'));
    journal.close();
  });
});

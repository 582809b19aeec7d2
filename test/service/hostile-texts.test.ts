import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stamped } from '../../src/core/machine/events.ts';
import { openServiceStore } from '../../src/effects/state/service-store.ts';
import { OPENED, openBooks } from '../helpers/books.ts';
import { HOSTILE, hostileSign } from '../helpers/hostile-signs.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What a program tells the library of stands in files that a person looks at.

const half = 'aB3dE6gH9jK2mN5pQ8';
const TOKEN = `gh\u200bp_${half}\u0007${half}`;
const TEXT = `${HOSTILE} ${TOKEN}`;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .filter((file) => !/(?:prompt|context)\.md$/.test(file));
}

test('nothing in them acts on a terminal or is a credential', async () => {
  const { books, vault, events } = await openBooks();
  await books.startTask({ prompt: `Write ${TEXT}`, taskId: 't', completionPromise: `D${TEXT}` });
  await books.incrementIteration('t', { context: TEXT });
  await books.updateProgress('t', { stepsTotal: 2, stepsCompleted: 1, currentStep: TEXT });
  await books.pauseTask('t', 'send-mail', TEXT);
  await books.failTask('t', TEXT);
  const files = filesBelow(vault);
  for (const kind of ['Needs_Action', 'Pending_Approval', 'events.jsonl', 'settings.json']) {
    expect(files.some((file) => file.includes(kind))).toBe(true);
  }
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    expect({ file, sign: hostileSign(text) }).toEqual({ file, sign: null });
    // What was asked for is kept as it is, to be gone on with.
    if (!/settings\.json$|t\.json$/.test(file))
      expect({ file, text }).toEqual({ file, text: expect.not.stringContaining(half) });
  }
  expect(events.length).toBeGreaterThan(3);
  expect(JSON.stringify(events)).not.toContain(half);
});

test('nor does the journal hold anything raw, whatever an event says', async () => {
  const vault = await tempFolder();
  const books = openServiceStore({ vault, stateDir: vault, keyFile: null, doneFolder: vault });
  const body = { event: 'task_started', prompt: HOSTILE, max_iterations: 1 } as const;
  const event = stamped(body, OPENED, HOSTILE);
  books.append(event);
  const text = readFileSync(join(vault, 'events.jsonl'), 'utf8');
  expect(hostileSign(text)).toBeNull();
  expect(JSON.parse(text)).toEqual(event);
});

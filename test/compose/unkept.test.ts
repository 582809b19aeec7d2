import { describe, expect, test } from 'vitest';
import { unkeptFiles } from '../../src/compose/unkept.ts';

const FULL = new Error('ENOSPC');

/** What is said where the state, the journal or both cannot be written. */
function stage({ stateFails = false } = {}) {
  const said: string[] = [];
  const unkept = unkeptFiles(
    '/v/events.jsonl',
    (sentence) => said.push(sentence),
    async () => {
      if (stateFails) unkept.state(FULL);
    },
  );
  return { said, unkept };
}

const STATE = expect.stringMatching(/^The state cannot be kept \(ENOSPC\)\. The loop continues/);
const JOURNAL = expect.stringMatching(/^Cannot write events to \/v\/events\.jsonl \(ENOSPC\)\./);
const BOTH = expect.stringMatching(/^The state .*, and neither can the journal \(ENOSPC\)\./);

describe('one line says', () => {
  test('that the state cannot be kept, once the journal could be written', () => {
    const { said, unkept } = stage();
    unkept.state(FULL);
    expect(said).toEqual([]);
    unkept.afterEvent();
    unkept.tell();
    expect(said).toEqual([STATE]);
  });

  test('that the journal cannot be written, once the state could be', async () => {
    const { said, unkept } = stage();
    unkept.journal(FULL);
    unkept.afterEvent();
    expect(said).toEqual([]);
    await new Promise(setImmediate);
    expect(said).toEqual([JOURNAL]);
  });

  test('both, where the state failed first', async () => {
    const { said, unkept } = stage();
    unkept.state(FULL);
    unkept.journal(FULL);
    unkept.afterEvent();
    await new Promise(setImmediate);
    expect(said).toEqual([BOTH]);
  });

  test('both, where the journal failed first', async () => {
    const { said, unkept } = stage({ stateFails: true });
    unkept.journal(FULL);
    unkept.afterEvent();
    await new Promise(setImmediate);
    expect(said).toEqual([BOTH]);
  });
});

import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// What the next iteration knows of the one before: by its output, by the agent's own session, or not at all.

const DONE: Turn = { text: 'TASK_COMPLETE' };
const CONTEXT = 'the output of the previous iteration';

/** The session each call resumed; null where it began afresh. */
function resumed(scene: Scene): readonly (string | null)[] {
  return scene.fake.calls().map(({ argv }) => {
    const word = argv.find((each) => each.startsWith('--resume='));
    return word?.slice('--resume='.length) ?? null;
  });
}

describe('--session continue', () => {
  const CONTINUE = ['--session', 'continue'];

  test('resumes the session of the iteration before, and leaves the context out', async () => {
    const scene = await makeScene([
      { text: 'One.', sessionId: 'session-a' },
      { text: 'Two?', sessionId: 'session-b' },
      { ...DONE, sessionId: 'session-b' },
    ]);
    expect((await scene.run(CONTINUE)).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([null, 'session-a', 'session-b']);
    for (const call of [2, 3]) {
      expect(scene.prompt(call)).toMatch(/^Fix it\n/);
      expect(scene.prompt(call)).not.toContain(CONTEXT);
      expect(scene.prompt(call)).toContain('The task is NOT yet complete.');
    }
    // What was missing is told all the same.
    expect(scene.prompt(3)).toContain('ended in a question');
    expect(scene.state().session_id).toBe('session-b');
  });

  test.for<[string, Turn]>([
    [
      'gone',
      {
        bare: true,
        noResult: true,
        stderr: 'No conversation found with session ID: session-a\n',
        exitCode: 1,
      },
    ],
    [
      // So it is reported where the output is stream-json.
      'gone, by the result line',
      {
        subtype: 'error_during_execution',
        isError: true,
        errors: ['No conversation found with session ID: session-a'],
        numTurns: 0,
        costUsd: 0,
      },
    ],
    ['too long', { isError: true, apiErrorStatus: 400, text: 'Prompt is too long' }],
  ])('a session that is %s: a fresh one in the same iteration', async ([, turn]) => {
    const scene = await makeScene([
      { text: 'I did one half.', sessionId: 'session-a' },
      { ...turn, sessionId: 'session-x' },
      { ...DONE, sessionId: 'session-c' },
    ]);
    const { exitCode } = await scene.run([...CONTINUE, '-n', '2']);
    expect(exitCode).toBe(0);
    expect(resumed(scene)).toEqual([null, 'session-a', null]);
    // What the session knew comes back as context.
    expect(scene.prompt(2)).not.toContain('I did one half.');
    expect(scene.prompt(3)).toContain('I did one half.');
    expect(scene.state()).toMatchObject({
      session_id: 'session-c',
      iterations: [{ number: 1 }, { number: 2 }],
      errors: [{ kind: 'session-gone', iteration: 2 }],
    });
  });

  test('a prompt that is too long without a session is refused', async () => {
    const scene = await makeScene([
      { isError: true, apiErrorStatus: 400, text: 'Prompt is too long' },
    ]);
    expect((await scene.run(CONTINUE)).exitCode).toBe(1);
    expect(scene.state().exit_reason).toBe('failed:refused-request');
  });

  test('fresh is the default', async () => {
    const scene = await makeScene([{ text: 'One.' }, DONE]);
    expect((await scene.run()).exitCode).toBe(0);
    expect(resumed(scene)).toEqual([null, null]);
    expect(scene.prompt(2)).toContain(CONTEXT);
  });
});

describe('--context', () => {
  test('none: nothing of the earlier output', async () => {
    const scene = await makeScene([{ text: 'A secret word: xyzzy.' }, DONE]);
    expect((await scene.run(['--context', 'none'])).exitCode).toBe(0);
    expect(scene.prompt(2)).not.toContain('xyzzy');
    expect(scene.prompt(2)).toContain('The task is NOT yet complete.');
  });

  test.for<[string, string, number, string, string]>([
    ['the end is kept', `${'a'.repeat(500)}THE END`, 7, 'THE END', '500'],
    // Half a character would be no character: it goes as a whole.
    ['on a character’s boundary', `${'a'.repeat(499)}😀 END.`, 6, ' END.', '501'],
    ['whole characters stay', `${'a'.repeat(499)}😀 END.`, 7, '😀 END.', '499'],
  ])('--context-chars: %s', async ([, text, chars, kept, left]) => {
    const scene = await makeScene([{ text }, DONE]);
    expect((await scene.run(['--context-chars', String(chars)])).exitCode).toBe(0);
    expect(scene.prompt(2)).toContain(
      `=====\n[the first ${left} characters are left out]\n${kept}\n===== END DATA`,
    );
  });

  test('what fits is given whole, and nothing is said of a cut', async () => {
    const scene = await makeScene([{ text: 'x'.repeat(20_000) }, DONE]);
    await scene.run();
    expect(scene.prompt(2)).toContain(`=====\n${'x'.repeat(20_000)}\n=====`);
    expect(scene.prompt(2)).not.toContain('left out');
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  error,
  hang,
  planLimitHeaders,
  type Reply,
  text,
  together,
  USAGE,
  withHeaders,
} from '../helpers/api-replies.ts';
import { CLAUDE_FACTS } from '../helpers/install-claude.ts';
import type { MessagesApi } from '../helpers/messages-api.ts';
import { PLAN_LOGIN } from '../helpers/real-claude.ts';
import { bash, makeRealScene, type RealScene, WITH_BASH } from '../helpers/real-scene.ts';
import { makeRepository } from '../helpers/scene.ts';
import { letLimitPass, TOLD_CLOCK, TOLD_LIMIT } from '../helpers/told-clock.ts';

// What ralph makes of a real `claude` that works: limits of its plan, its cost, its sessions, its refusals.

const PROMISED = 'All good.\n\nTASK_COMPLETE';
const QUICK = ['--delay', '0'] as const;

/** All that the model was given in that call, from 0. */
function given(api: MessagesApi, call: number): string {
  return api.mainCalls[call]?.raw ?? '';
}

function limited(resetsInS: number): { readonly reply: Reply; readonly resetsAt: number } {
  const resetsAt = Math.ceil(Date.now() / 1_000) + resetsInS;
  const headers = planLimitHeaders({ status: 'rejected', resetsAt });
  return { reply: error(429, 'rate_limit_error', 'Limit reached.', headers), resetsAt };
}

describe('limits of the plan', () => {
  test('a reset 12 s ahead: waited for, one counted iteration', async () => {
    let first: ReturnType<typeof limited> | null = null;
    const scene = await makeRealScene((_, index) => {
      if (index > 0) return text(PROMISED);
      // Counted from the call, since `claude` takes its time to start, and some more to end.
      first = limited(12);
      return first.reply;
    });
    const end = await scene.run(['-n', '1'], { env: PLAN_LOGIN });
    expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(end.stderr).toContain('waiting until');
    expect(scene.state()).toMatchObject({
      attempt: 2,
      iterations: [{ number: 1, outcome: 'answered' }],
      metrics: { iterations: 1 },
      errors: [{ kind: 'usage-limited' }],
    });
    expect(scene.api.mainCalls).toHaveLength(2);
  });

  test('a reset beyond --max-wait: exit 75 at once, with the time', async () => {
    const { reply, resetsAt } = limited(7 * 3_600);
    const scene = await makeRealScene([reply]);
    const end = await scene.run([], { env: PLAN_LOGIN });
    expect(end).toMatchObject({ exitCode: 75, stdout: '' });
    expect(end.stderr).toContain(`until ${new Date(resetsAt * 1_000).toISOString()}`);
    expect(scene.notes()).toMatchObject([{ name: expect.stringMatching(/^RALPH_LIMITED_t_/) }]);
  });

  test('--max-usage stops before the limit', async () => {
    const headers = planLimitHeaders({
      status: 'allowed_warning',
      resetsAt: Math.ceil(Date.now() / 1_000) + 3_600,
      utilization: 0.93,
    });
    const scene = await makeRealScene([withHeaders(text('Not yet.'), headers)]);
    const end = await scene.run([...QUICK, '--max-usage', '80'], { env: PLAN_LOGIN });
    expect(end.exitCode).toBe(75);
    expect(end.stderr).toContain('--max-usage is reached');
    expect(scene.state()).toMatchObject({ exit_reason: 'max_usage', iterations: [{ number: 1 }] });
  });

  test('words about limits and logins are words', async () => {
    const talk =
      'Fixed the 429 handler; "usage limit reached" is now shown; not logged in users are redirected.';
    const scene = await makeRealScene([text(talk), text(`${talk}\n\nTASK_COMPLETE`)]);
    const end = await scene.run(QUICK);
    expect(end.exitCode).toBe(0);
    expect(scene.state()).toMatchObject({ errors: [], iterations: [{}, {}] });
  });
});

describe('--max-cost', () => {
  test('spent over iterations: exit 8 and a note; the rest is handed on', async () => {
    const priced = await makeRealScene([text('Not yet.')]);
    await priced.run([...QUICK, '-n', '1']);
    const { cost_usd: price } = priced.state().usage;
    expect(price).toBeGreaterThan(0);

    const scene = await makeRealScene(() => text('Not yet.'));
    const limit = (price * 2.5).toFixed(6);
    const end = await scene.run([...QUICK, '-n', '9', '--max-cost', limit]);
    expect(end).toMatchObject({ exitCode: 8, stdout: '' });
    expect(scene.state()).toMatchObject({ status: 'budget_spent' });
    expect(scene.state().iterations).toHaveLength(3);
    expect(scene.notes()).toMatchObject([{ name: expect.stringMatching(/^RALPH_BUDGET_t_/) }]);
  });

  test('spent within one iteration: claude stops itself', async () => {
    // Many calls to come; each costs some cents at most.
    const scene = await makeRealScene(() => bash('echo one'));
    const end = await scene.run([...WITH_BASH, ...QUICK, '--max-cost', '0.02']);
    expect(end.exitCode).toBe(8);
    expect(scene.state().iterations).toMatchObject([{ outcome: 'bounded' }]);
    expect(scene.api.mainCalls.length).toBeLessThan(30);
  });
});

describe('--session continue', () => {
  const CONTINUE = [...QUICK, '--session', 'continue'];

  test('the second iteration stands in the same conversation, without a context block', async () => {
    const scene = await makeRealScene([text('I did one half.'), text(PROMISED)]);
    expect(await scene.run(CONTINUE)).toMatchObject({ exitCode: 0 });
    const second = scene.api.mainCalls[1];
    // What it said itself, as its own message, and the prompt of both turns.
    expect(given(scene.api, 1)).toContain('I did one half.');
    expect(given(scene.api, 1)).not.toContain('the output of the previous iteration');
    expect(JSON.stringify(second?.body).split('Fix it.').length - 1).toBe(2);
  });

  test('the session is gone: a fresh one in the same iteration, with the context', async () => {
    const scene = await makeRealScene([text('I did one half.'), text(PROMISED)]);
    const end = await scene.run([...CONTINUE, '-n', '2', '--after', 'rm -rf ~/.claude/projects']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(given(scene.api, 1)).toContain('the output of the previous iteration');
    expect(scene.state()).toMatchObject({
      iterations: [{ number: 1 }, { number: 2 }],
      errors: [{ kind: 'session-gone', iteration: 2 }],
    });
  });
});

describe('asking back', () => {
  const TAG = '<promise>TASK_COMPLETE</promise>';
  const DOUBTFUL = `All tests pass.\n\n${TAG}\n\nSummary: two files changed.`;

  test('a statement with a summary behind it: asked in the same session, one counted iteration', async () => {
    const scene = await makeRealScene([bash('touch made'), text(DOUBTFUL), text(TAG)]);
    const end = await scene.run([...QUICK, '--accept-refused', '*', '--max-cost', '1']);
    expect(end).toMatchObject({ exitCode: 0, stdout: `${DOUBTFUL}\n` });
    expect(scene.api.mainCalls).toHaveLength(3);
    // The conversation so far, once, and the question behind it.
    const asked = given(scene.api, 2);
    expect(asked.split('Fix it.').length - 1).toBe(1);
    expect(asked).toContain('Summary: two files changed.');
    expect(asked).toContain('Is the task complete?');
    expect(scene.state()).toMatchObject({
      attempt: 2,
      iterations: [{ number: 1, completed: true, near_miss: false }],
      metrics: { iterations: 1 },
      errors: [],
    });
    // A session that is resumed reports its own cost, turns and refusals alone: nothing counts twice.
    const { usage, iterations } = scene.state();
    expect(iterations).toMatchObject([{ ...usage, turns: 3, refused: ['Bash: touch made'] }]);
    expect(usage.output_tokens).toBe(3 * USAGE.output_tokens);
  });

  test('one that is taken back: one question, no completion, and the next iteration is told', async () => {
    const scene = await makeRealScene([
      text(DOUBTFUL),
      text('I have not run the tests on Windows.'),
      text(PROMISED),
    ]);
    expect((await scene.run([...QUICK, '-n', '1'])).exitCode).toBe(3);
    expect(scene.api.mainCalls).toHaveLength(2);
    expect(scene.state()).toMatchObject({
      status: 'max_iterations_reached',
      iterations: [{ number: 1, completed: false, near_miss: true }],
    });

    const going = await makeRealScene([
      text(DOUBTFUL),
      text('I have not run the tests on Windows.'),
      text(PROMISED),
    ]);
    expect((await going.run(QUICK)).exitCode).toBe(0);
    expect(given(going.api, 2)).toContain('Fix it.');
    expect(given(going.api, 2)).toContain('I have not run the tests on Windows.');
    expect(going.state().metrics.iterations).toBe(2);
  });

  test('--session continue: the next iteration stands behind the question', async () => {
    const scene = await makeRealScene([text(DOUBTFUL), text('Not on Windows.'), text(PROMISED)]);
    expect((await scene.run([...QUICK, '--session', 'continue'])).exitCode).toBe(0);
    const third = given(scene.api, 2);
    expect(third.split('Is the task complete?').length - 1).toBe(1);
    expect(third.split('Not on Windows.').length - 1).toBe(1);
  });
});

describe('tools', () => {
  test('refused, then the same tool allowed, then the promise: exit 0', async () => {
    const scene = await makeRealScene([bash('touch made'), bash('echo fine'), text(PROMISED)]);
    const end = await scene.run(['-n', '1', '--allowed-tools', 'Bash(echo:*)']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(scene.state().iterations[0].refused).toEqual(['Bash: touch made']);
  });

  test('--edit: it may edit, and run the command of a check with further words', async () => {
    const scene = await makeRealScene([
      bash('npm test made'),
      bash('npm run other'),
      text(PROMISED),
    ]);
    await scene.write('package.json', '{"scripts":{"test":"touch"}}\n');
    await scene.run(['-n', '1', '--edit', '--verify', 'npm test']);
    expect(scene.state().iterations[0].refused).toEqual(['Bash: npm run other']);
    expect(existsSync(join(scene.folder, 'made'))).toBe(true);
  });

  test('refused, and then no result: known where it is told at once', async () => {
    const scene: RealScene = await makeRealScene((_, index) => {
      if (index === 0) return bash('touch made');
      letLimitPass(scene.folder);
      return hang();
    });
    const args = ['-n', '1', '--iteration-timeout', TOLD_LIMIT];
    const end = await scene.run(args, { env: TOLD_CLOCK });
    expect(end).toMatchObject({ exitCode: 3 });
    const known = CLAUDE_FACTS.tellsRefusalsAtOnce ? ['Bash: touch made'] : [];
    expect(scene.state().iterations[0].refused).toEqual(known);
  });

  test('nothing but refusals and a promise, twice: exit 5; --accept-refused lets it through', async () => {
    const script: readonly Reply[] = [bash('touch made'), text(PROMISED)];
    const scene = await makeRealScene([...script, ...script]);
    const end = await scene.run(QUICK);
    expect(end.exitCode).toBe(5);
    expect(end.stderr).toMatch(/next: .*--allowed-tools/);
    const accepting = await makeRealScene(script);
    const second = await accepting.run([...QUICK, '--accept-refused', 'Bash(touch:*)']);
    expect(second.exitCode).toBe(0);
  });

  test('--disallowed-tools, on purpose: the claim needs --accept-refused', async () => {
    const script = [bash('touch made'), text(PROMISED)];
    const args = ['-n', '1', ...WITH_BASH];
    const forbidden = ['--', '--disallowedTools', 'Bash(touch:*)'];
    const scene = await makeRealScene(script);
    expect((await scene.run([...args, ...forbidden])).exitCode).toBe(3);
    const accepting = await makeRealScene(script);
    const end = await accepting.run([...args, '--accept-refused', 'Bash', ...forbidden]);
    expect(end.exitCode).toBe(0);
  });
});

describe('progress and checks', () => {
  test('--verify fails once: the model is given its output; then it passes', async () => {
    const scene = await makeRealScene([text(PROMISED), bash('touch fixed'), text(PROMISED)]);
    const verify = 'test -f fixed || { echo 3 tests fail; exit 1; }';
    const end = await scene.run([...QUICK, ...WITH_BASH, '--verify', verify]);
    expect(end.exitCode).toBe(0);
    expect(given(scene.api, 1)).toContain('3 tests fail');
  });

  test('in a git tree three idle iterations: exit 5; what a tool writes is progress', async () => {
    const idle = text('I am thinking about it.');
    const scene = await makeRealScene([idle, bash('echo new > file'), idle, idle, idle, idle]);
    makeRepository(scene.folder, scene.home);
    const end = await scene.run([...QUICK, ...WITH_BASH, '-n', '9']);
    expect(end.exitCode).toBe(5);
    expect(scene.state()).toMatchObject({ exit_reason: 'no-progress' });
    // The second one moved something: that is two calls.
    expect(scene.api.mainCalls).toHaveLength(6);
  });

  test('a message that thinks aloud and reports: the report is kept', async () => {
    const report = text('<progress done="1" total="4">reading</progress>');
    const scene = await makeRealScene([together(text('First.'), report), text(PROMISED)]);
    expect((await scene.run(QUICK)).exitCode).toBe(0);
    expect(scene.state().progress).toMatchObject({ steps_completed: 1, current_step: 'reading' });
  });
});

import { describe, expect, test } from 'vitest';
import { hasJudgeCheckout, makeFakeJudge, verdict } from '../helpers/fake-judge.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { letsLimitPass, TOLD_CLOCK, TOLD_LIMIT } from '../helpers/told-clock.ts';

// What follows if the judge gives no verdict, and what `ralph judge` does.

const VERIFY = ['--verify', 'grep -q ok a.txt'];

async function repository(): Promise<Scene> {
  const scene = await makeScene({ text: 'TASK_COMPLETE', shell: 'echo ok > a.txt' });
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\n');
  await scene.write('a.txt', 'at the start\n');
  scene.makeRepository();
  return scene;
}

describe('no verdict', () => {
  test('is asked for twice and told, with --proof tell', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, ['PASS. Everything is met.', '']);
    const { exitCode, stderr } = await scene.run([...VERIFY, ...judge.args]);
    expect(exitCode).toBe(0);
    expect(judge.prompts()).toHaveLength(2);
    expect(judge.prompts()[1]).toContain('your answer could not be read: it had no object');
    expect(stderr).toContain('; not judged: command gave no verdict (it was empty)');
    expect(hasJudgeCheckout(scene)).toBe(false);
  });

  test('ends the task with --proof hold; a resume begins with the judge', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, ['PASS', { exitCode: 1 }, verdict({ c1: 'met' })]);
    const { exitCode, stderr } = await scene.run([...VERIFY, '--proof', 'hold', ...judge.args]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 5 });
    expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'no-verdict' });
    expect(scene.notes()[0]?.text).toContain('command gave no verdict');
    const resumed = await scene.ralph(['resume', 't']);
    expect(resumed.exitCode).toBe(0);
    expect(scene.state().metrics.iterations).toBe(1);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(judge.prompts()).toHaveLength(3);
  });

  test('lets the claim pass in a resume with --no-judge', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, ['PASS']);
    const criteria = ['--criterion', 'it is there'];
    const args = [...VERIFY, '--proof', 'hold', ...judge.args, ...criteria];
    expect((await scene.run(args)).exitCode).toBe(5);
    const resumed = await scene.ralph(['resume', 't', '--no-judge']);
    expect(resumed.exitCode).toBe(0);
    expect(resumed.stderr).not.toContain('judged');
    expect(scene.fake.calls()).toHaveLength(1);
    expect(judge.prompts()).toHaveLength(2);
  });

  test('is a verdict with the nonce of another call', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, ['', verdict({ c1: 'met' }, undefined, 'FIRST')]);
    const { exitCode } = await scene.run([...VERIFY, '--proof', 'hold', ...judge.args]);
    expect(exitCode).toBe(5);
  });

  test('is a hang, which the time limit of an iteration ends', async () => {
    const scene = await repository();
    const shell = `${letsLimitPass(scene.folder)}; exec sleep 600`;
    const judge = makeFakeJudge(scene, [{ shell }]);
    const args = [...VERIFY, '--iteration-timeout', TOLD_LIMIT, ...judge.args];
    const { exitCode, stderr } = await scene.run(args, { env: TOLD_CLOCK });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('not judged: command gave no verdict');
    expect(judge.prompts()).toHaveLength(2);
  });
});

describe('what was paid for is kept', () => {
  test('the verdict, if the checkout cannot be removed', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, [
      {
        shell: 'trees=$(dirname "$PWD"); mv "$trees" "$trees.gone"; ln -s "$trees" "$trees"',
        answer: verdict({ c1: 'met' }),
      },
    ]);
    const { exitCode, stderr } = await scene.run([...VERIFY, '--proof', 'hold', ...judge.args]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stderr).toContain('The checkout of the judge stays in');
    expect(stderr).toContain('judged by command: 1 of 1 met');
  });

  test('the count of calls, if the cited file cannot be read', async () => {
    const scene = await repository();
    const judge = makeFakeJudge(scene, [
      {
        shell:
          'id=$(git hash-object a.txt); rm -f "$(cat .git/objects/info/alternates)/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"',
        answer: verdict({ c1: 'met' }),
      },
    ]);
    const { stderr } = await scene.run([...VERIFY, ...judge.args]);
    expect(stderr).toContain('not judged: command gave no verdict (it could not be asked');
    expect(scene.state().judge).toMatchObject({ calls: 1 });
  });
});

test('a kill while the judge works costs no iteration', async () => {
  const scene = await repository();
  const judge = makeFakeJudge(scene, [
    { shell: 'kill -9 $PPID; sleep 60' },
    verdict({ c1: 'met' }),
  ]);
  await scene.run([...VERIFY, ...judge.args]);
  expect(judge.prompts()).toHaveLength(1);
  const resumed = await scene.ralph(['resume', 't']);
  expect(resumed.exitCode).toBe(0);
  expect(scene.state().metrics.iterations).toBe(1);
  expect(scene.fake.calls()).toHaveLength(1);
  expect(hasJudgeCheckout(scene)).toBe(false);
});

test('a judge that is not found ends the task before the first iteration', async () => {
  const scene = await repository();
  const { exitCode, stderr } = await scene.run(['--judge', 'codex']);
  expect(exitCode).toBe(1);
  expect(scene.state().exit_reason).toBe('failed:agent-not-found');
  expect(stderr).toContain('the judge codex cannot be started');
  expect(stderr).toContain('npm install -g @openai/codex');
  expect(scene.fake.calls()).toEqual([]);
});

describe('ralph judge', () => {
  test('judges the final tree of a task without a judge, and changes nothing', async () => {
    const scene = await repository();
    expect((await scene.run(VERIFY)).exitCode).toBe(0);
    const before = scene.state();
    const no = verdict({ c1: 'not-met', c2: 'met' }, [{ file: 'a.txt', line: 1 }]);
    const judge = makeFakeJudge(scene, [no, verdict({ c1: 'met' })]);
    const two = ['--criterion', 'it is there', '--criterion', 'it works'];
    const first = await scene.ralph(['judge', 't', ...judge.args, ...two]);
    expect(first).toMatchObject({
      exitCode: 1,
      stdout:
        'command: c1 not met: it is there — what shows c1 (a.txt:1)\ncommand: c2 met: it works — what shows c2 (a.txt:1)\n',
    });
    const second = await scene.ralph(['judge', 't', ...judge.args, '--json']);
    expect(second.exitCode).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({ agent: 'command', verdict: 'met' });
    expect(judge.prompts()[0]).toContain('+ok');
    expect(judge.prompts()[0]).toContain('grep -q ok a.txt: passed');
    expect(scene.state()).toEqual(before);
    expect(hasJudgeCheckout(scene)).toBe(false);
  });

  test('says what it misses', async () => {
    const scene = await repository();
    expect(await scene.ralph(['judge', 't', '--judge', 'codex'])).toMatchObject({ exitCode: 1 });
    expect((await scene.run(VERIFY)).exitCode).toBe(0);
    const { exitCode, stderr } = await scene.ralph(['judge', 't']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('ralph judge expects --judge AGENT');
  });
});

describe('a mistake starts nothing', () => {
  test.each([
    ['a file of criteria alone', ['--criteria', 'x'], '--criteria needs --judge'],
    [
      'a missing file',
      ['--judge', 'codex', '--criteria', 'no.md'],
      '--criteria expects a file that can be read',
    ],
    ['a file without criteria', ['--judge', 'codex', '--criteria', 'none.md'], 'found none in'],
    [
      'too many criteria',
      ['--judge', 'codex', '--criteria', 'many.md'],
      'at most 100 criteria; found 101',
    ],
    [
      'a program that the worker may rewrite',
      ['--judge', 'command', '--judge-command', 'sh ./none.md'],
      '--judge-command expects a program outside of the work tree',
    ],
    ['no rounds', ['--judge', 'codex', '--judge-rounds', '0'], 'a whole number, at least 1'],
    ['no snapshots', ['--judge', 'codex', '--no-snapshots'], 'exclude each other'],
  ])('%s', async (_, args, says) => {
    const scene = await repository();
    await scene.write('none.md', '# Criteria\n');
    await scene.write('many.md', '- it is there\n'.repeat(101));
    const { exitCode, stderr } = await scene.run(args);
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
    expect(scene.has('.ralph_state')).toBe(false);
    expect(scene.fake.calls()).toEqual([]);
  });

  test('a judge outside git', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE' });
    const { exitCode, stderr } = await scene.run(['--judge', 'codex']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--judge needs a git work tree');
  });
});

test('--dry-run names the judge and its criteria', async () => {
  const scene = await repository();
  const args = ['--judge', 'codex:gpt-5', '--criterion', 'it is there', '--dry-run'];
  const { stdout } = await scene.run(args);
  expect(stdout).toContain(
    'Who judges a claim, and by what:\n  codex, with the model gpt-5\n  c1: it is there',
  );
});

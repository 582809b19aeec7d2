import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { server, untilPid } from '../helpers/background.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, livingIn } from '../helpers/living-in.ts';
import { isDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { moveFile, untilThere } from '../helpers/vault.ts';

// A loop that asks a person before its agent goes on.

const ASKED = '<approval id="deploy">deploy to production</approval>';
const ASKING: Turn = { text: `All is ready.\n\n${ASKED}` };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Ship it', '--task-id', 't', '--delay', '0'] as const;
const NAME = 'APPROVAL_t_deploy.md';
const REQUEST = `Pending_Approval/${NAME}`;
const COMPLETED = { exitCode: 0, stdout: `${DONE.text}\n` };
const TOLD_YES = 'A person has approved your request deploy (deploy to production)';

/** A loop whose request lies there. */
async function waitingLoop(turns: readonly Turn[], args: readonly string[] = []) {
  const scene = await makeScene(turns);
  endAllInLater(scene.home);
  const ralph = await scene.start([...RUN, ...args]);
  await ralph.untilStderr(/waits for an approval/);
  await untilThere(scene, REQUEST);
  return { scene, ralph };
}

/** A task that was told not to wait. */
async function pendingTask(turns: readonly Turn[], args: readonly string[] = []): Promise<Scene> {
  const scene = await makeScene(turns);
  const { exitCode } = await scene.ralph([...RUN, '--no-wait', ...args]);
  expect(exitCode).toBe(6);
  return scene;
}

function events(scene: Scene): readonly string[] {
  return scene.journal().map(({ event }) => event);
}

describe('a loop that asks', () => {
  test('a loop that asks waits with nothing running, and goes on once the file is moved to Approved', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    expect(ralph.stderr()).toContain(
      `waits for an approval: deploy to production; answer it with a command, or move ${REQUEST} to Approved/ or Rejected/\nralph: to allow it: ralph approve t\nralph: to refuse it: ralph reject t\n`,
    );
    expect(scene.state()).toMatchObject({
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
      approval: { id: 'deploy', what: 'deploy to production', file: NAME, decision: null },
    });
    // Of all that was started only the driver lives.
    expect(livingIn(scene.home).map(({ pid }) => pid)).toEqual([ralph.pid]);
    expect(scene.fake.calls()).toHaveLength(1);

    moveFile(scene, REQUEST, 'Approved');
    await scene.fake.untilCalls(2);
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain(TOLD_YES);
    expect(scene.state()).toMatchObject({
      status: 'completed',
      paused_for_approval: false,
      metrics: { iterations: 2 },
      approval: { decision: 'approved', answer_file: `Approved/${NAME}` },
    });
    expect(events(scene).filter((name) => /^task_/.test(name))).toEqual([
      'task_started',
      'task_iterated',
      'task_paused',
      'task_resumed',
      'task_iterated',
      'task_completed',
    ]);
    expect(scene.names('Pending_Approval')).toEqual([]);
  });

  test('Rejected: the agent is told why', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    const text = scene.read(REQUEST).replace('reason: ""', 'reason: Not on a Friday');
    await scene.write(REQUEST, text);
    moveFile(scene, REQUEST, 'Rejected');
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain(
      'A person has rejected your request deploy (deploy to production), because: Not on a Friday. Do not do it;',
    );
    expect(scene.state().approval).toMatchObject({
      decision: 'rejected',
      answer_file: `Rejected/${NAME}`,
      reason: 'Not on a Friday',
    });
  });

  test('what the agent left in the background is ended before it waits', async () => {
    const scene = await makeScene([{ ...ASKING, leaves: server('server.pid') }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await untilThere(scene, REQUEST);
    const pid = await untilPid(join(scene.folder, 'server.pid'));
    // It is dead as soon as a person can see the request.
    expect(isDead(pid)).toBe(true);
    expect(ralph.stderr()).toContain(`ended leftover background processes: ${pid} (`);
    moveFile(scene, REQUEST, 'Approved');
    expect(await ralph.ended).toMatchObject(COMPLETED);
  });

  test('a background process of the agent cannot answer its request, and is ended before the wait', async () => {
    const forge = `exec > /dev/null 2>&1; echo $$ > forger.pid; mkdir -p Approved; until mv ${REQUEST} Approved/; do sleep 0.01; done`;
    const { scene, ralph } = await waitingLoop([{ ...ASKING, leaves: forge }, DONE]);
    expect(isDead(await untilPid(join(scene.folder, 'forger.pid')))).toBe(true);
    moveFile(scene, REQUEST, 'Rejected');
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.state()).toMatchObject({ approval: { decision: 'rejected' } });
  });

  test('with --keep-background a background process stays while the loop waits', async () => {
    const scene = await pendingTask(
      [{ ...ASKING, leaves: server('server.pid') }],
      ['--keep-background'],
    );
    expect(isDead(await untilPid(join(scene.folder, 'server.pid')))).toBe(false);
  });

  test('a file that the agent puts into Approved is no answer, until the request is moved over it', async () => {
    const shell = `mkdir -p Approved && echo yes > Approved/${NAME}`;
    const scene = await pendingTask([{ ...ASKING, shell }, DONE]);
    expect(scene.names('Approved')).toEqual([NAME]);
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 6 });
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
  });

  test('a loop may ask several times, each time with a new request', async () => {
    const scene = await pendingTask([ASKING, ASKING, DONE]);
    moveFile(scene, REQUEST, 'Approved');
    // Yesterday's yes is none today.
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 6 });
    expect(scene.names('Pending_Approval')).toEqual([NAME]);
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    expect(scene.state().metrics.iterations).toBe(3);
  });

  test('its own request is not what a watch glob waits for', async () => {
    const scene = await pendingTask(
      [ASKING, DONE],
      ['--watch-glob', '**/*.md', '--promise', 'TASK_COMPLETE'],
    );
    moveFile(scene, REQUEST, 'Rejected');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    expect(scene.state()).toMatchObject({ evidence: { kind: 'promise' } });
  });

  test('a request that cannot be written is reported, with exit code 6', async () => {
    const scene = await makeScene([ASKING]);
    await scene.write('Pending_Approval', 'a file');
    const { exitCode, stderr } = await scene.ralph(RUN);
    expect(exitCode).toBe(6);
    expect(stderr).toContain('The request for an approval could not be written');
  });

  test('an echo of what the prompt says about approvals asks for nothing', async () => {
    const echo = 'I may say <approval id="short-id">what you want to do</approval>.';
    const scene = await makeScene([{ text: echo }, DONE]);
    expect(await scene.ralph(RUN)).toMatchObject(COMPLETED);
    expect(scene.prompt(1)).toContain('<approval id="short-id">what you want to do</approval>');
    expect(scene.has('Pending_Approval')).toBe(false);
  });

  test('what it prints on a terminal is clean', async () => {
    const what = '\u001b]0;owned\u0007deploy \u001b[31mnow';
    const scene = await makeScene([{ text: `<approval id="x">${what}</approval>` }]);
    const { stderr } = await scene.ralph([...RUN, '--no-wait']);
    expect(stderr).toContain('waits for an approval: deploy now;');
    const { stdout } = await scene.ralph(['approvals']);
    expect(stdout).toContain('t  deploy now\n');
    for (const control of ['\u001b', '\u0007']) expect(stderr + stdout).not.toContain(control);
  });
});

describe("the agent's own file in Pending_Approval", () => {
  const shell =
    "mkdir -p Pending_Approval && echo '# Mail Anna about t' > Pending_Approval/mail.md";

  test("the agent's own file is the request, and is answered like any other", async () => {
    const scene = await makeScene([{ text: 'I wait.', shell }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await ralph.untilStderr(/waits for an approval: Mail Anna about t/);
    expect(scene.names('Pending_Approval')).toEqual(['mail.md']);
    expect(scene.read('Pending_Approval/mail.md')).toBe('# Mail Anna about t\n');
    moveFile(scene, 'Pending_Approval/mail.md', 'Approved');
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain('approved your request mail (Mail Anna about t)');
    expect(scene.state().approval).toMatchObject({ by_agent: true, file: 'mail.md' });
  });

  test("the agent's own file is rejected by its name, with a reason", async () => {
    const scene = await pendingTask([{ text: 'I wait.', shell }, DONE]);
    const { exitCode } = await scene.ralph(['reject', 'mail.md', '--reason', 'She is away.']);
    expect(exitCode).toBe(0);
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain('because: She is away. Do not');
  });

  test('a file of the agent for another task is not its request', async () => {
    const other = "mkdir -p Pending_Approval && echo 'for another' > Pending_Approval/mail.md";
    const scene = await makeScene([{ text: 'Not yet.', shell: other }, DONE]);
    expect(await scene.ralph(RUN)).toMatchObject(COMPLETED);
    expect(scene.names('Pending_Approval')).toEqual(['mail.md']);
  });

  test('a file that was there before the task is no request', async () => {
    const scene = await makeScene([DONE]);
    await scene.write('Pending_Approval/old.md', 'for t');
    expect(await scene.ralph(RUN)).toMatchObject(COMPLETED);
  });

  test('two at once are asked for one after the other', async () => {
    const two = `${shell}; echo 'Post it, t' > Pending_Approval/post.md`;
    const scene = await pendingTask([{ text: 'I wait.', shell: two }, { text: 'On it.' }, DONE]);
    moveFile(scene, 'Pending_Approval/mail.md', 'Approved');
    // The driver of a resumed task finds the second one.
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 6 });
    expect(scene.state().approval).toMatchObject({ file: 'post.md' });
    moveFile(scene, 'Pending_Approval/post.md', 'Approved');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
  });

  test('two at once, in one run', async () => {
    const two = `${shell}; echo 'Post it, t' > Pending_Approval/post.md`;
    const scene = await makeScene([{ text: 'I wait.', shell: two }, { text: 'On it.' }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await ralph.untilStderr(/Mail Anna/);
    moveFile(scene, 'Pending_Approval/mail.md', 'Approved');
    await ralph.untilStderr(/Post it/);
    moveFile(scene, 'Pending_Approval/post.md', 'Approved');
    expect(await ralph.ended).toMatchObject(COMPLETED);
  });

  test("after a kill in the same iteration the resumed task asks for the agent's own file", async () => {
    const scene = await makeScene([{ shell, hangs: true }, { text: 'On it.' }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await untilThere(scene, 'Pending_Approval/mail.md');
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    expect(await scene.ralph(['resume', 't', '--no-wait'])).toMatchObject({ exitCode: 6 });
    expect(scene.state().approval).toMatchObject({ file: 'mail.md' });
  });
});

describe('--no-wait', () => {
  test('exits 6, in words; resume says so again, and goes on once it is answered', async () => {
    const scene = await makeScene([ASKING, DONE]);
    const { exitCode, stdout, stderr } = await scene.ralph([...RUN, '--no-wait']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
    expect(stderr).toContain('waits for an approval');
    expect(scene.state()).toMatchObject({
      status: 'paused_awaiting_approval',
      exit_reason: 'approval-pending',
      driver: null,
    });
    expect(scene.journal().at(-1)).toMatchObject({
      event: 'task_paused',
      final: true,
      exit_code: 6,
    });
    expect(scene.notes()).toEqual([]);

    const again = await scene.ralph(['resume', 't', '--no-wait']);
    expect(again.exitCode).toBe(6);
    expect(again.stderr).toContain('waits for an approval');
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph(['resume', 't', '--no-wait'])).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain(TOLD_YES);
    expect(scene.state().metrics.iterations).toBe(2);
  });
});

describe('--approval-timeout', () => {
  test('nobody answers in time: exit 6, and it can be resumed', async () => {
    const scene = await makeScene([ASKING, DONE]);
    const { exitCode, stderr } = await scene.ralph([...RUN, '--approval-timeout', '100ms']);
    expect(exitCode).toBe(6);
    expect(stderr).toContain('nobody answered the request for approval in time');
    expect(scene.state()).toMatchObject({
      status: 'paused_awaiting_approval',
      exit_reason: 'approval-expired',
    });
    expect((await scene.ralph(['approvals'])).stdout).toContain('overdue');
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
  });

  test('resume waits for as long as it is told', async () => {
    const scene = await pendingTask([ASKING]);
    const { stderr } = await scene.ralph(['resume', 't', '--approval-timeout', '5h']);
    expect(stderr).toContain('waits for an approval');
    const { requested_at, expires_at } = scene.state().approval;
    expect(Date.parse(expires_at) - Date.parse(requested_at)).toBeGreaterThanOrEqual(5 * 3_600_000);
    expect(Date.parse(expires_at) - Date.parse(requested_at)).toBeLessThan(6 * 3_600_000);
  });
});

describe('the driver', () => {
  test('a driver that is killed while it waits can be resumed, and an answer given meanwhile counts', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    const waiting = await scene.start(['resume', 't']);
    await waiting.untilStderr(/resumed .*\n.*waits for an approval/);
    process.kill(waiting.pid, 'SIGKILL');
    await waiting.ended;
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state().metrics.iterations).toBe(2);
  });

  test.for<[string, number]>([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])(
    'a driver that gets %s while it waits ends with its exit code, and can be resumed',
    async ([signal, code]) => {
      const { scene, ralph } = await waitingLoop([ASKING, DONE]);
      process.kill(ralph.pid, signal);
      expect(await ralph.ended).toMatchObject({ exitCode: code });
      expect(scene.names('Pending_Approval')).toEqual([NAME]);
      moveFile(scene, REQUEST, 'Approved');
      expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    },
  );

  test.for<['stop' | 'pause', number]>([
    ['stop', 143],
    ['pause', 6],
  ])(
    'ralph %s ends a driver that waits for an approval, and resume goes on',
    async ([command, code]) => {
      const { scene, ralph } = await waitingLoop([ASKING, DONE]);
      expect(await scene.ralph([command, 't'])).toMatchObject({ exitCode: 0 });
      expect(await ralph.ended).toMatchObject({ exitCode: code });
      moveFile(scene, REQUEST, 'Approved');
      expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    },
  );

  test('waits: status says so, and a second one is refused', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    expect((await scene.ralph(['status', 't'])).stdout).toContain('approval');
    expect(await scene.ralph(RUN)).toMatchObject({ exitCode: 7 });
    expect(await scene.ralph(['resume', 't'])).toMatchObject({ exitCode: 7 });
    moveFile(scene, REQUEST, 'Approved');
    expect(await ralph.ended).toMatchObject(COMPLETED);
  });
});

describe('run with the id of a task that waits', () => {
  test('replaces nothing: exit 6, in words', async () => {
    const scene = await pendingTask([ASKING, DONE]);
    const { exitCode, stderr } = await scene.ralph(RUN);
    expect(exitCode).toBe(6);
    expect(stderr).toContain(
      "ralph: task 't' waits for an approval; answer it, and resume.\nralph: to allow it: ralph approve t\n",
    );
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({ approval: { decision: null } });
  });

  test('run replaces no task whose driver was killed while it waited', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    expect(await scene.ralph(RUN)).toMatchObject({ exitCode: 6 });
  });

  test('--resume-if-open goes on with it', async () => {
    const scene = await pendingTask([ASKING, DONE]);
    moveFile(scene, REQUEST, 'Approved');
    expect(await scene.ralph([...RUN, '--resume-if-open'])).toMatchObject(COMPLETED);
    expect(scene.state().metrics.iterations).toBe(2);
  });
});

describe('ralph approvals', () => {
  test('none', async () => {
    const scene = await makeScene();
    expect(await scene.ralph(['approvals'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'ralph: no task waits for an approval\n',
    });
    expect(await scene.ralph(['approvals', '--json'])).toMatchObject({ stdout: '[]\n' });
    expect(scene.names()).toEqual([]);
  });

  test('what waits, for how long, the oldest first', async () => {
    const scene = await makeScene(ASKING);
    for (const id of ['b', 'a']) {
      await scene.ralph(['run', '-p', 'x', '--task-id', id, '--no-wait']);
    }
    const { stdout } = await scene.ralph(['approvals']);
    expect(stdout).toMatch(
      /^b {2}deploy to production\n {2}waiting for \S+, expires in \S+.*: APPROVAL_b_deploy\.md\na {2}deploy/,
    );
    const rows = JSON.parse((await scene.ralph(['approvals', '--json'])).stdout);
    expect(rows).toMatchObject([
      {
        task_id: 'b',
        approval_id: 'deploy',
        what: 'deploy to production',
        file: 'APPROVAL_b_deploy.md',
        overdue: false,
      },
      { task_id: 'a' },
    ]);
  });
});

describe('ralph approve and ralph reject', () => {
  test.for(['t', NAME])('approve %s lets a waiting loop go on', async (name) => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    const { exitCode, stderr } = await scene.ralph(['approve', name]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `ralph: approved: Approved/${NAME}\n`,
    });
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain(TOLD_YES);
  });

  test('reject with a reason, which the agent is told', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    const reason = 'Not "now": it\'s\nFriday @all';
    expect(await scene.ralph(['reject', 't', '--reason', reason])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject(COMPLETED);
    expect(scene.prompt(2)).toContain(`because: Not "now": it's Friday \\@all. Do not do it;`);
    expect(scene.read(`Rejected/${NAME}`)).toContain(
      'reason: "Not \\"now\\": it\'s Friday @all"\n',
    );
  });

  test('a task that nobody drives: it is answered, and resume goes on', async () => {
    const scene = await pendingTask([ASKING, DONE]);
    expect(await scene.ralph(['approve', 't'])).toMatchObject({ exitCode: 0 });
    expect(await scene.ralph(['approvals', '--json'])).toMatchObject({ stdout: '[]\n' });
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
    const { exitCode, stderr } = await scene.ralph(['approve', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("task 't' is completed; it does not wait for an approval");
  });

  test('what the agent had put there is kept beside', async () => {
    const shell = `mkdir -p Approved && echo yes > Approved/${NAME}`;
    const scene = await pendingTask([{ ...ASKING, shell }, DONE]);
    expect(await scene.ralph(['approve', 't'])).toMatchObject({ exitCode: 0 });
    expect(scene.names('Approved')).toHaveLength(2);
    expect(await scene.ralph(['resume', 't'])).toMatchObject(COMPLETED);
  });

  test('a request that somebody has removed still waits', async () => {
    const scene = await pendingTask([ASKING]);
    rmSync(join(scene.folder, REQUEST));
    const { stdout } = await scene.ralph(['approvals', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ task_id: 't' }]);
  });

  test('one that is answered already', async () => {
    const scene = await pendingTask([ASKING]);
    moveFile(scene, REQUEST, 'Approved');
    const { exitCode, stderr } = await scene.ralph(['approve', 't']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`is no longer in Pending_Approval (${NAME})`);
  });

  test.for(['nothing', '../t', '..', REQUEST, ''])('nothing is called %j', async (name) => {
    const scene = await pendingTask([ASKING]);
    const { exitCode, stderr } = await scene.ralph(['approve', name]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('there is no task ');
    expect(scene.names('Pending_Approval')).toEqual([NAME]);
  });

  test('a task that waits for nothing', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }]);
    await scene.ralph([...RUN, '-n', '1']);
    const { exitCode, stderr } = await scene.ralph(['reject', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('it does not wait for an approval');
  });

  test.for(['approve t', `approve ${NAME}`, 'reject t'])(
    'ralph %s is refused inside its own loop',
    async (words) => {
      const scene = await pendingTask([ASKING]);
      const env = {
        RALPH_RUN_ID: 'x',
        RALPH_TASK_ID: 't',
        RALPH_STATE_FILE: join(scene.folder, '.ralph_state/t.json'),
      };
      const { exitCode, stderr } = await scene.ralph(words.split(' '), { env });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`is refused inside the loop of task 't' itself`);
      expect(scene.names('Pending_Approval')).toEqual([NAME]);
    },
  );

  test('a background process of the agent cannot either', async () => {
    const answer = 'until ralph approvals | grep -q deploy; do sleep 0.05; done; ralph approve t';
    const scene = await makeScene([
      {
        ...ASKING,
        leaves: `exec > approve.log 2>&1; ${answer}; echo $? > code; mv code approve.code`,
      },
    ]);
    endAllInLater(scene.home);
    const ralph = await scene.start([...RUN, '--keep-background']);
    await untilThere(scene, 'approve.code');
    expect(scene.read('approve.log')).toContain('is refused inside the loop');
    expect(scene.read('approve.code')).toBe('1\n');
    process.kill(ralph.pid, 'SIGTERM');
    await ralph.ended;
  });
});

describe('links that lead out of the vault', () => {
  test('an answer beyond one is none', async () => {
    const { scene, ralph } = await waitingLoop([ASKING, DONE]);
    const out = join(scene.home, 'out');
    mkdirSync(out);
    writeFileSync(join(out, NAME), 'yes');
    rmSync(join(scene.folder, 'Approved'), { recursive: true, force: true });
    symlinkSync(out, join(scene.folder, 'Approved'));
    const { exitCode, stderr } = await scene.ralph(['approve', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('leads out of the vault');
    expect(scene.state()).toMatchObject({ status: 'paused_awaiting_approval' });
    unlinkSync(join(scene.folder, 'Approved'));
    expect(await scene.ralph(['approve', 't'])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject(COMPLETED);
  });
});

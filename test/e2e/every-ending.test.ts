import { cpSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import { ENDED_STATUSES, ENDINGS, type EndedStatus } from '../../src/core/task/endings.ts';
import { fileOf, STATE } from '../../src/effects/trust/seal.ts';
import { InvalidStateError } from '../../src/index.ts';
import { painted } from '../../src/report/screens/status.ts';
import { pass } from '../../src/rescue/pass.ts';
import type { VaultPorts } from '../../src/rescue/ports.ts';
import { openBooks } from '../helpers/books.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { carryOutAll, type Line, type LineEnd } from '../helpers/many-lines.ts';
import type { RalphEnd } from '../helpers/run-ralph.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';
import { ownSeal } from '../helpers/test-seal.ts';
import { fileFacts, NOW } from '../helpers/vault-facts.ts';

// What holds for every ending. One that is not in this table fails the first test.

interface Example {
  readonly status: EndedStatus;
  readonly reason: string;
  readonly exitCode: number;
  readonly event: string;
  /** The word in the name of its note; null: it leaves none. */
  readonly note: string | null;
  /** The last words of the run. */
  readonly says: string;
  /** What the run, the note and the report advise; null: nothing. */
  readonly advice: string | null;
  /** What `ralph report` calls the state, below which heading. */
  readonly inReport: readonly [heading: string, words: string];
  /** The colour in `ralph status`. */
  readonly colour: 'green' | 'yellow' | 'red';
  /** The flag that raises the used-up limit, in the commands that are proposed. */
  readonly more: string;
  readonly cron: 'continues' | 'begins a new run' | 'is refused';
  /** What a pass over the vault takes the end of a run for. */
  readonly verdict: 'done' | 'failed' | 'common' | 'held' | 'interrupted';
  /** What the next pass does with a rescue that has ended so. */
  readonly nextPass: 'moves the file' | 'rescues' | 'resumes' | 'leaves it';
}

type Rest = Omit<Example, 'status' | 'reason' | 'says' | 'advice'>;

const of =
  (status: EndedStatus, rest: Rest) =>
  (reason: string, says: string, advice: string | null, others: Partial<Rest> = {}): Example => ({
    status,
    reason,
    says,
    advice,
    ...rest,
    ...others,
  });

const STALLED = of('stalled', {
  exitCode: 5,
  event: 'task_stalled',
  note: 'STALLED',
  inReport: ['Failed', 'stalled'],
  colour: 'red',
  more: '',
  cron: 'begins a new run',
  verdict: 'failed',
  nextPass: 'rescues',
});
const FAILED = of('failed', {
  exitCode: 1,
  event: 'task_failed',
  note: 'FAILED',
  inReport: ['Failed', 'failed'],
  colour: 'red',
  more: '',
  cron: 'continues',
  verdict: 'common',
  nextPass: 'rescues',
});
const LIMITED = of('usage_limited', {
  exitCode: 75,
  event: 'task_usage_limited',
  note: 'LIMITED',
  inReport: ['Failed', 'at a usage limit'],
  colour: 'yellow',
  more: '',
  cron: 'continues',
  verdict: 'common',
  nextPass: 'resumes',
});
const STOPPED = of('stopped', {
  exitCode: 143,
  event: 'task_stopped',
  note: null,
  inReport: ['Waiting', 'stopped'],
  colour: 'yellow',
  more: '',
  cron: 'continues',
  verdict: 'interrupted',
  nextPass: 'resumes',
});
const HELD = {
  exitCode: 6,
  event: 'task_paused',
  note: null,
  inReport: ['Waiting', 'paused'],
  colour: 'yellow',
  more: '',
  cron: 'continues',
  verdict: 'held',
  nextPass: 'leaves it',
} as const;
const ASKING = of('paused_awaiting_approval', {
  ...HELD,
  inReport: ['Waiting', 'waits for your approval'],
});

const COMPLETED = of('completed', {
  exitCode: 0,
  event: 'task_completed',
  note: null,
  inReport: ['Completed', 'completed'],
  colour: 'green',
  more: '',
  cron: 'begins a new run',
  verdict: 'done',
  nextPass: 'moves the file',
});
const EXHAUSTED = of('max_iterations_reached', {
  exitCode: 3,
  event: 'max_iterations_reached',
  note: 'EXHAUSTED',
  inReport: ['Failed', 'out of iterations'],
  colour: 'red',
  more: '--max-iterations +5',
  cron: 'begins a new run',
  verdict: 'failed',
  nextPass: 'rescues',
});
const TIMEOUT = of('timeout', {
  exitCode: 4,
  event: 'task_timeout',
  note: 'TIMEOUT',
  inReport: ['Failed', 'out of time'],
  colour: 'red',
  more: '--timeout +30m',
  cron: 'begins a new run',
  verdict: 'failed',
  nextPass: 'rescues',
});
const BUDGET = of('budget_spent', {
  exitCode: 8,
  event: 'task_budget_spent',
  note: 'BUDGET',
  inReport: ['Failed', 'out of money'],
  colour: 'red',
  more: '--max-cost +2',
  cron: 'is refused',
  verdict: 'held',
  nextPass: 'leaves it',
});
const PAUSED = of('paused', HELD);

const ANSWER = 'answer the request, then resume';
const LATER = 'try again later';
const CLEARER = 'read the logs and make the prompt clearer; ';

const EXAMPLES: readonly Example[] = [
  COMPLETED('completed', 'completed', null),
  EXHAUSTED('max_iterations', 'not completed: the iterations ran out', null),
  TIMEOUT('timeout', 'not completed: the time limit of the whole task was reached', null),
  STALLED('no-progress', 'not completed: stalled (no progress)', `${CLEARER}--no-progress-limit 0`),
  STALLED('same-error', 'not completed: stalled (same error)', `${CLEARER}--same-error-limit 0`),
  STALLED('refused', 'not completed: stalled (refused)', 'allow the tools with --allowed-tools'),
  STALLED('unproven', 'not completed: stalled (unproven)', 'fix what was found'),
  STALLED('judged', 'not completed: stalled (judged)', 'read what the judge objects to'),
  STALLED('no-verdict', 'not completed: stalled (no verdict)', 'find out what keeps the judge', {
    cron: 'continues',
    verdict: 'common',
    nextPass: 'resumes',
  }),
  STALLED(
    'supervisor:same-failing-call',
    'not completed: stalled (same failing call)',
    'read the log of the last iteration for what fails',
  ),
  STALLED(
    'supervisor:same-call',
    'not completed: stalled (same call)',
    'read the log of the last iteration for what it repeats',
  ),
  STALLED(
    'supervisor:refused',
    'not completed: stalled (refused)',
    'allow the tools with --allowed-tools',
  ),
  STALLED('supervisor:tokens', 'not completed: stalled (tokens)', 'give it a smaller task'),
  STALLED(
    'supervisor:subagents',
    'not completed: stalled (subagents)',
    'tell it in the prompt to start fewer sub-agents',
  ),
  STALLED('interrupted', 'not completed: stalled (interrupted)', 'something keeps killing ralph', {
    cron: 'is refused',
  }),
  BUDGET('budget', 'not completed: the budget of the task is spent', null),
  BUDGET(
    'day_budget',
    'not completed: the budget of the day is spent',
    'resume it on the next day',
    {
      more: '',
      cron: 'continues',
      nextPass: 'resumes',
    },
  ),
  LIMITED('outage', "not completed: the agent's service remained unreachable", LATER),
  LIMITED('usage_limit', 'not completed: a usage limit lasts longer than --max-wait', LATER),
  LIMITED('max_usage', 'not completed: --max-usage is reached', LATER),
  STOPPED('stopped:SIGHUP', 'stopped (SIGHUP)', null, { exitCode: 129 }),
  STOPPED('stopped:SIGINT', 'stopped (SIGINT)', null, { exitCode: 130 }),
  STOPPED('stopped:SIGTERM', 'stopped (SIGTERM)', null),
  STOPPED('stopped:request', 'stopped (request)', null, { verdict: 'held', nextPass: 'leaves it' }),
  PAUSED('paused', 'paused', null),
  ASKING('approval-pending', 'not completed: waiting for an approval', ANSWER),
  ASKING(
    'approval-expired',
    'not completed: nobody answered the request for approval in time',
    ANSWER,
  ),
  FAILED('failed:agent-not-found', 'failed (agent-not-found): It broke.', 'install it (npm'),
  FAILED(
    'failed:not-logged-in',
    'failed (not-logged-in): It broke.',
    'do as the message says, or log in with',
    {
      nextPass: 'resumes',
    },
  ),
  FAILED('failed:no-credit', 'failed (no-credit): It broke.', 'add credit to the account', {
    nextPass: 'resumes',
  }),
  FAILED('failed:refused-request', 'failed (refused-request): It broke.', 'do as the message says'),
  FAILED(
    'failed:agent-error',
    'failed (agent-error): It broke.',
    'fix what the agent complains of',
    {
      nextPass: 'resumes',
    },
  ),
  FAILED('failed:hook', 'failed (hook): It broke.', 'look at the hooks in'),
  FAILED('failed:slash-command', 'failed (slash-command): It broke.', 'claude took the prompt'),
  FAILED('failed:setup', 'failed (setup): It broke.', 'run the command of --setup yourself'),
  FAILED('failed:bad-option', 'failed (bad-option): It broke.', 'remove the option, or update'),
  FAILED('failed:root-refused', 'failed (root-refused): It broke.', 'claude skips permissions'),
  FAILED('failed:aborted', 'failed (aborted): It broke.', 'the task was given up on purpose', {
    cron: 'begins a new run',
    verdict: 'failed',
  }),
  FAILED('failed:reported', 'failed (reported): It broke.', null),
  FAILED('failed:bug', 'failed (bug): It broke.', 'report it with the output above', {
    exitCode: 70,
  }),
];

/** Each example, by the id of the task that is to have ended so. */
const ROWS = EXAMPLES.map((example, index) => [example.reason, `e${index}`, example] as const);

const NOT_DONE: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const MORE = ['--timeout', '2h', '--max-cost', '5'];

/** The state of a task, ended so. With a driver, nobody has been told. */
function endedSo(state: Json, { status, reason }: Example, driver: Json = null): Json {
  const error = { at: NOW, iteration: 1, attempt: 1, kind: 'fatal', message: 'It broke.' };
  const errors = status === 'failed' ? [error] : [];
  return { ...state, status, exit_reason: reason, errors, driver };
}

/** A driver that died before the machine was last started. */
const DEAD = {
  pid: 1,
  pid_started_at: '1',
  boot_id: 'another',
  host: 'another',
  pid_namespace: '',
  run_id: 'run-1',
  beat_at: NOW,
};

/** What a task that ran for one iteration leaves. */
interface Left {
  readonly folder: string;
  readonly state: Json;
  readonly settings: string;
}

let left: Left | null = null;

async function makeLeft(): Promise<Left> {
  const { folder, run, state, read } = await makeScene(NOT_DONE);
  expect(await run(['-n', '1'])).toMatchObject({ exitCode: 3 });
  return { folder, state: state(), settings: read('.ralph_state/t/settings.json') };
}

/** A vault with tasks that ran for one iteration and ended so. */
async function makeVault(rows: typeof ROWS, driver: Json = null): Promise<Scene> {
  left ??= await makeLeft();
  const shell = 'cp -R Needs_Action kept 2> /dev/null || :';
  const scene = await makeScene({ ...DONE, shell });
  // The sandbox's rules name the folder of the program, beside the work folder.
  const settings = JSON.parse(
    left.settings.replaceAll(dirname(left.folder), dirname(scene.folder)),
  );
  for (const [, taskId, example] of rows) {
    const state = { ...endedSo(left.state, example, driver), task_id: taskId, memory: null };
    await scene.writeState(state);
    await scene.write(`.ralph_state/${taskId}/prompt.md`, 'Fix it');
    const seal = ownSeal(join(scene.folder, '.ralph_state'));
    const sealed = seal.close(unsealed(settings), fileOf('settings', state));
    await scene.write(`.ralph_state/${taskId}/settings.json`, sealed);
  }
  return scene;
}

/** A task that completed lies in the history. */
function moveToHistory(scene: Scene, taskId: string): void {
  for (const name of [taskId, `${taskId}.json`]) {
    const path = join(scene.folder, '.ralph_state', name);
    cpSync(path, join(scene.folder, '.ralph_state/history', name), { recursive: true });
    rmSync(path, { recursive: true });
  }
}

/**
 * Plays a line for each row, each in a vault of its own, and looks at what it came to. The first is a process of
 * its own; another process adds nothing to the others.
 */
async function playEach(
  rows: typeof ROWS,
  driver: Json,
  line: (taskId: string) => readonly string[],
  look: (row: (typeof ROWS)[number], scene: Scene, end: LineEnd | RalphEnd) => void,
): Promise<void> {
  const lines: Line[] = [];
  for (const [reason, taskId, example] of rows) {
    const scene = await makeVault([[reason, taskId, example]], driver);
    if (example.status === 'completed') moveToHistory(scene, taskId);
    lines.push({ scene, args: line(taskId) });
  }
  const [first, ...others] = lines;
  if (first === undefined) throw new Error('There are no rows.');
  const ends = [await first.scene.ralph(first.args), ...(await carryOutAll(others))];
  rows.forEach((row, index) => {
    const [scene, end] = [lines[index]?.scene, ends[index]];
    if (scene === undefined || end === undefined) throw new Error(`${row[0]} was not played.`);
    try {
      look(row, scene, end);
    } catch (error) {
      if (error instanceof Error) error.message = `${row[0]}: ${error.message}`;
      throw error;
    }
  });
}

function unsealed({ sum, ...fields }: Json): string {
  return `${JSON.stringify(fields, null, 2)}\n`;
}

const DOCUMENTS = join(import.meta.dirname, '../..');

/** The rows of a document's tables. */
function rowsOf(path: string): readonly string[] {
  const lines = readFileSync(join(DOCUMENTS, path), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('| '));
}

/** Only a worker of a fleet ends a task so: test/compose/fleet and test/fleet have them. */
const OF_A_FLEET = ['policy', 'repository', 'origin', 'worker-died'].map(
  (reason) => `failed: failed:${reason}`,
);

test('every ending of a run has an example here', () => {
  const all = ENDED_STATUSES.flatMap((status) =>
    Object.keys(ENDINGS[status].reasons).map((reason) => `${status}: ${reason}`),
  ).filter((each) => !OF_A_FLEET.includes(each));
  const found = EXAMPLES.map(({ status, reason }) => `${status}: ${reason}`);
  expect(found.toSorted()).toEqual(all.toSorted());
});

describe('a task of which nobody was told that it ended', () => {
  test('is announced by event, exit code, words and note, and resumed', async () => {
    const rows = ROWS.filter(([, , { status }]) => status !== 'completed');
    const line = (taskId: string) => ['resume', taskId, '-n', '5', ...MORE];
    await playEach(rows, DEAD, line, ([reason, taskId, example], scene, { stderr, ...end }) => {
      const { status, exitCode, event, note, says, advice, more } = example;
      expect(end).toMatchObject({ exitCode: 0, stdout: `${DONE.text}\n` });
      expect(scene.fake.calls()).toHaveLength(1);
      expect(scene.state(taskId)).toMatchObject({ status: 'completed' });

      const told = scene.journal().find((each) => 'exit_code' in each);
      expect(told).toMatchObject({ event, status, exit_reason: reason, exit_code: exitCode });
      const [, words = ''] = stderr.split(`ralph: ${says}\n`);
      const [ending = ''] = words.split('ralph: resumed at');
      expect(ending).not.toBe('');
      const lineOf = (label: string): string | null =>
        new RegExp(`^ralph: ${label}: (.*)$`, 'm').exec(ending)?.[1] ?? null;
      const advised = advice?.replaceAll('ID', taskId) ?? null;
      expect(lineOf('what to do')).toEqual(advised && expect.stringContaining(advised));
      const flag = more === '' ? '' : `${more} `;
      const command = `ralph resume ${taskId} ${flag}`.trim();
      expect(lineOf('next')).toBe(reason === 'failed:aborted' ? null : command);

      // The note went when the task was completed; the agent has kept a copy.
      expect(scene.names('Needs_Action')).toEqual([]);
      if (scene.has('kept'))
        cpSync(join(scene.folder, 'kept'), join(scene.folder, 'Needs_Action'), { recursive: true });
      const [found, ...others] = scene.notes();
      expect(others).toEqual([]);
      expect(found?.name.split(`_${taskId}_`)[0]).toBe(note === null ? undefined : `RALPH_${note}`);
      if (note === null) return;
      const type = `ralph_${note.toLowerCase()}`;
      expect(found).toMatchObject({ frontMatter: { type, reason } });
      expect(found?.command).toBe(`cd ${scene.folder} && ${command}`);
      const heading = status === 'failed' ? 'It broke\\.' : `[A-Z].+: ${taskId}`;
      expect(found?.text).toMatch(new RegExp(`^# ${heading}$`, 'm'));
      // Of a limit only the run itself says when to try again.
      const isNoted = advised !== null && status !== 'usage_limited';
      expect(found?.text.includes('\nFirst: ')).toBe(isNoted);
      if (isNoted) expect(found?.text).toContain(`\nFirst: ${advised}`);
    });
  });

  test('completed: is announced, and there is nothing to resume', async () => {
    const other = await makeScene([NOT_DONE, DONE]);
    expect(await other.run(['-n', '1'])).toMatchObject({ exitCode: 3 });
    // Its memory shows that nobody was told.
    await other.writeState({ ...other.state(), status: 'completed', exit_reason: 'completed' });
    const { exitCode, stderr } = await other.ralph(['resume', 't', '-n', '5']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('ralph: completed: Fix it\n');
    expect(stderr).not.toMatch(/^ralph: (?:next|note|what to do):/m);
    const ending = { event: 'task_completed', status: 'completed', exit_code: 0 };
    expect(other.journal().at(-1)).toMatchObject(ending);
    const again = await other.ralph(['resume', 't', '-n', '5']);
    expect(again).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('already completed'),
    });
    expect(other.fake.calls()).toHaveLength(1);
  });
});

describe('a task that ended', () => {
  test('is read again, and shown', async () => {
    const scene = await makeVault(ROWS);
    const found: readonly Json[] = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
    for (const [reason, taskId, { status, colour }] of ROWS) {
      const shown = found.find((each) => each.task_id === taskId);
      expect(shown).toMatchObject({ state: status, status, exit_reason: reason, own: true });
      const chalk = new Chalk({ level: 1 });
      expect(painted(shown, reason, chalk)).toBe(chalk[colour](reason));
    }
  });

  test('is reported', async () => {
    const scene = await makeVault(ROWS);
    const report = (await scene.ralph(['report'])).stdout;
    for (const [reason, taskId, { status, advice, inReport, more }] of ROWS) {
      const [heading, words] = inReport;
      const [, section = ''] = report.split(`\n## ${heading}\n`);
      expect(section.split('\n## ')[0]).toContain(`| ${taskId} | ${words} |`);
      const [, block = ''] = report.split(`\n- **${taskId}** ${words}`);
      expect([reason, block === '']).toEqual([reason, status === 'completed']);
      if (status === 'completed') continue;
      const need = block.split('\n- **')[0]?.split('\n## ')[0] ?? '';
      const isAdvised = advice !== null && ['failed', 'stalled', 'budget_spent'].includes(status);
      expect([reason, need.includes('What to do: ')]).toEqual([reason, isAdvised]);
      if (isAdvised) expect(need).toContain(`What to do: ${advice}`);
      const command = status === 'paused_awaiting_approval' ? 'approve' : 'resume';
      const flag = more === '' ? '' : `${more} `;
      expect(need).toContain(`cd ${scene.folder} && ralph ${command} ${taskId} ${flag}`.trim());
    }
  });

  test('meets the line for cron', async () => {
    const options = ['--resume-if-open', '--delay', '0', '-n', '5', ...MORE];
    const line = (taskId: string) => ['run', '-p', 'Fix it', '--task-id', taskId, ...options];
    await playEach(ROWS, null, line, ([reason, taskId, example], scene, { stderr, ...end }) => {
      const { status, cron, exitCode, more } = example;
      if (cron === 'is refused') {
        expect(end).toMatchObject({ exitCode, stdout: '' });
        const why = status === 'stalled' ? `${status}: ${reason}` : status;
        expect(stderr).toContain(`task '${taskId}' has ended (${why})`);
        expect(stderr).toContain(`ralph resume ${taskId}${more === '' ? '' : ` ${more}`}`);
        expect(scene.fake.calls()).toEqual([]);
        return;
      }
      expect(end).toMatchObject({ exitCode: 0, stdout: `${DONE.text}\n` });
      const iterations = cron === 'continues' ? 2 : 1;
      expect(scene.state(taskId)).toMatchObject({ status: 'completed', metrics: { iterations } });
    });
  });

  test.for(ROWS)('%s: is understood by the pass that ran it', async ([, , example]) => {
    const { status, reason, exitCode, verdict } = example;
    const did: string[] = [];
    const doing =
      <Result>(what: string, result: Result) =>
      async (): Promise<Result> => {
        did.push(what);
        return result;
      };
    const ports = {
      clock: { now: () => NOW },
      stops: { signal: new AbortController().signal },
      report: () => {},
      vault: {
        list: async () => [fileFacts()],
        look: async () => fileFacts(),
        hold: async () => ({ release: () => {} }),
      },
      records: { countFailed: doing('failed', 1), close: doing('done', undefined) },
      notes: {
        write: doing('blocked', null),
        remove: doing('took back its note', undefined),
        clearBlocked: doing('worked', undefined),
      },
      runTask: async () => ({
        ...{ kind: 'ended', status, exitReason: reason, exitCode, startedAt: NOW, note: 'x.md' },
      }),
    } as unknown as VaultPorts;
    const options = { stuckAfterMs: 0, startNew: false, concurrency: 1 };
    const { cause } = await pass(ports, options);
    const expected = {
      done: ['done', 'worked'],
      failed: ['failed', 'worked'],
      common: ['took back its note', 'blocked'],
      held: ['worked'],
      interrupted: [],
    };
    expect(did).toEqual(expected[verdict]);
    expect(cause).toEqual(verdict === 'common' ? { status, exitReason: reason, exitCode } : null);
  });

  test.for(ROWS)('%s: is no task at work for the library', async ([reason, , example]) => {
    const { status } = example;
    const { books, state, write, vault } = await openBooks();
    await books.startTask({ prompt: 'Write it.', taskId: 't' });
    const json = unsealed(endedSo(state('t'), example));
    write('.ralph_state/t.json', ownSeal(join(vault, '.ralph_state')).close(json, STATE));
    expect(await books.getTaskState('t')).toMatchObject({ status, exit_reason: reason });
    expect(await books.checkTaskComplete('t')).toBe(status === 'completed');
    const counted = books.incrementIteration('t', { context: '' });
    await expect(counted).rejects.toBeInstanceOf(InvalidStateError);
    const resumed = books.resumeTask('t');
    if (status.startsWith('paused')) expect(await resumed).toMatchObject({ status: 'running' });
    else await expect(resumed).rejects.toBeInstanceOf(InvalidStateError);
  });

  test.for(ROWS)('%s: stands in the documents', ([reason, , example]) => {
    const { status, exitCode, cron, note } = example;
    const cells = (path: string) => rowsOf(path).map((row) => row.split(' | '));
    const codes = cells('README.md').filter(([code]) =>
      code?.match(/\d+/g)?.includes(String(exitCode)),
    );
    expect(codes).toEqual([
      [expect.anything(), expect.stringContaining(status), expect.anything()],
    ]);
    const crons = cells('docs/resume.md').filter(([, what]) => what?.startsWith(cron));
    expect(crons).toEqual([[expect.stringContaining(`\`${status}\``), expect.anything()]]);
    const row = [status, reason].map((word) => `\`${word}\``).join(' | ');
    const name = note === null ? '–' : `\`RALPH_${note}_…\``;
    expect(rowsOf('docs/resume.md')).toContain(`| ${row} | ${exitCode} | ${name} | ${cron} |`);
    if (note !== null) {
      expect(readFileSync(join(DOCUMENTS, 'docs/files.md'), 'utf8')).toContain(`\`RALPH_${note}_`);
    }
  });
});

test('the note of each ending keeps a rescue from the file', async () => {
  const scene = await makeScene();
  const notes = [...new Set(EXAMPLES.flatMap(({ note }) => note ?? []))];
  for (const note of notes) {
    await scene.write(`In_Progress/${note}.md`, 'Write the letter.');
    await scene.write(`Needs_Action/RALPH_${note}_${note}_20260105T120000Z.md`, '# Look.');
    makeOld(scene, note);
  }
  const { stdout } = await scene.ralph(['rescue']);
  for (const note of notes) {
    expect(stdout).toContain(`In_Progress/${note}.md: left to a human: its own run left RALPH_`);
  }
  expect(scene.fake.calls()).toEqual([]);
});

test('a rescue that ended is taken up again by the next pass, or left', async () => {
  const scene = await makeScene(NOT_DONE);
  const rescue = async (): Promise<readonly string[]> => {
    for (const [, name] of ROWS) makeOld(scene, name);
    const args = ['rescue', '-n', '1'];
    return (await scene.ralph(args)).stdout.split('\n');
  };
  for (const [, name] of ROWS) await scene.write(`In_Progress/${name}.md`, 'Write the letter.');
  await rescue();
  // A completed task ended after its file was last touched.
  const later = { finished_at: new Date(Date.now() + 3_600_000).toISOString() };
  for (const [, name, example] of ROWS) {
    const state = endedSo(scene.state(`stuck_${name}`), example);
    const ended = example.status === 'completed' ? later : {};
    await scene.writeState({ ...state, ...ended, memory: null });
    for (const memory of ['memory-1.json', 'memory-2.json']) {
      rmSync(join(scene.folder, `.ralph_state/stuck_${name}`, memory), { force: true });
    }
  }
  // Which of them have failed is counted again.
  rmSync(join(scene.folder, '.ralph_state/.rescue'), { recursive: true });
  const lines = await rescue();
  for (const [reason, name, { status, nextPass, verdict }] of ROWS) {
    const line = lines.find((each) => each.startsWith(`In_Progress/${name}.md: `));
    const expected = {
      'moves the file': 'was already completed; moved to Done',
      rescues: `rescued as stuck_${name}, not completed: max iterations reached; failed rescues: ${verdict === 'failed' ? 2 : 1}`,
      resumes: `resumed as stuck_${name}, not completed: max iterations reached`,
      'leaves it': `left: its task is ${status.replaceAll('_', ' ')}; ralph resume continues it`,
    };
    expect([reason, line]).toEqual([reason, expect.stringContaining(expected[nextPass])]);
  }
});

/** Makes a file as old as one that nobody has touched for 25 minutes. */
function makeOld(scene: Scene, name: string): void {
  const then = Date.now() / 1_000 - 25 * 60;
  utimesSync(join(scene.folder, `In_Progress/${name}.md`), then, then);
}

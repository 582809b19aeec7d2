import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../src/report/columns.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import {
  HAS_PSEUDO_TERMINALS,
  onTerminal,
  type TerminalOptions,
} from '../helpers/pseudo-terminal.ts';
import { jsonLines, makeScene } from '../helpers/scene.ts';

const LONG =
  'I have fixed the parser 日本語のテスト 😀 and now comes the printer, with all that is in it.';
const WORKING: Turn = { text: LONG };
const DONE: Turn = { text: 'Good.\n\nTASK_COMPLETE' };
const RUN = 'ralph run -p "Fix it" --task-id t --delay 0 --permission-mode acceptEdits';
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences that set colours
const COLOUR = /\u001b\[\d*(;\d+)*m/;
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

/** A run on a terminal to its end. */
async function seen(turns: readonly Turn[], flags = '', options: TerminalOptions = {}) {
  const scene = await makeScene(turns);
  scene.makeRepository();
  const terminal = onTerminal(scene, `${RUN} ${flags}`, options);
  const exitCode = await terminal.ended;
  const look = terminal.look();
  return { scene, exitCode, written: terminal.written(), look, screen: look.screen() };
}

describe.skipIf(!HAS_PSEUDO_TERMINALS)('the last screen of a run', () => {
  test.for([
    [80, {}, ''],
    [80, { NO_COLOR: '1' }, ''],
    [50, {}, ''],
    [50, {}, '--no-color'],
  ] as const)('in %i columns, %j %s', async ([columns, env, flag]) => {
    const change = {
      ...WORKING,
      shell: 'echo x > new.txt; git add . ; git commit -qm x; echo y > b',
    };
    const { exitCode, written, look, screen } = await seen([change, DONE], flag, {
      columns,
      env: {
        ...env,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    });
    expect(exitCode).toBe(0);
    const text = screen.join('\n');
    expect(COLOUR.test(written)).toBe(flag === '' && !('NO_COLOR' in env));
    // The picture was there, and nothing of it is left.
    expect(written).toMatch(SPINNER);
    expect(text).not.toMatch(SPINNER);
    expect(look.unknown).toEqual([]);
    const lines = screen.filter((line) => /^[•✔✘]/u.test(line));
    expect(lines).toEqual([
      expect.stringMatching(/^• 1\/5 answered, \S+, \$0\.0100, 2 files — I have.*…$/),
      expect.stringMatching(/^• 2\/5 answered, \S+, \$0\.0100, 0 files — Good/),
      expect.stringMatching(/^✔ completed: Fix it/),
    ]);
    for (const line of lines) expect(columnsOf(line)).toBeLessThan(columns);
    expect(text).toMatch(/^ {2}changed {5}b, new\.txt \(\+2 -0\), in 1 commit$/m);
    expect(text).toMatch(/^ {2}look {8}ralph diff t\n {2}undo {8}ralph undo t$/m);
    // The result comes last, and is the only thing on standard output.
    expect(text).toMatch(/\nGood\.\n\nTASK_COMPLETE$/);
    expect(look.cursor).toMatchObject({ column: 0, isShown: true });
  });

  test.for([80, 50])(
    'of a task that is not completed says what to do, in %i columns',
    async (columns) => {
      const { scene, exitCode, screen } = await seen([WORKING, WORKING], '-n 2', { columns });
      expect(exitCode).toBe(3);
      const text = screen.join('\n');
      expect(text).toMatch(/^✘ not completed: the iterations ran out$/m);
      expect(text).toMatch(/^ {2}changed {2}nothing$/m);
      const command = 'ralph resume t --max-iterations +5';
      expect(screen.join('')).toContain(`  next     ${command}`);
      const again = onTerminal(scene, `${command} --dry-run`);
      expect(await again.ended).toBe(0);
    },
  );

  test('of the demo', async () => {
    const scene = await makeScene();
    const terminal = onTerminal(scene, 'ralph demo', { columns: 50 });
    expect(await terminal.ended).toBe(0);
    const text = terminal.look().screen().join('\n');
    expect(text.match(/^• \d\/5 answered/gm)).toHaveLength(3);
    expect(text).toMatch(/^✔ completed/m);
    // Its folder is gone: nothing to read, nothing to go on with.
    expect(text).not.toMatch(/^ {2}(logs|next|note)/m);
    expect(text).not.toMatch(SPINNER);
  });

  test('after a change of its size', async () => {
    const scene = await makeScene([
      { shell: 'stty -F "$TTY" cols 50', delayMs: 1_500, ...WORKING },
      { shell: 'stty -F "$TTY" cols 80', delayMs: 1_500, ...WORKING },
      DONE,
    ]);
    const terminal = onTerminal(scene, `sh -c 'TTY=$(tty) exec ${RUN} --no-color'`);
    expect(await terminal.ended).toBe(0);
    const lines = terminal.written().match(/• \d\/5 .*/g) ?? [];
    const [narrow, wide] = lines.map((line) => columnsOf(line.trimEnd()));
    expect(narrow).toBeLessThan(50);
    expect(wide).toBeGreaterThan(50);
  });
});

describe.skipIf(!HAS_PSEUDO_TERMINALS)('Ctrl-C', () => {
  test.for([80, 50])('leaves a clean screen of %i columns', async (columns) => {
    const scene = await makeScene([WORKING, { reportsOnSigint: true, hangs: true }]);
    const terminal = onTerminal(scene, RUN, { columns });
    await scene.fake.untilCalls(2);
    await terminal.until(/iteration 2\/5/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    const look = terminal.look();
    const screen = look.screen();
    expect(screen.join('\n')).toMatch(/^✘ stopped \(SIGINT\)$/m);
    expect(screen.join('')).toContain('  next  ralph resume t  logs ');
    expect(screen.join('\n')).not.toMatch(SPINNER);
    expect(screen.join('\n')).not.toContain('^C');
    expect(look.cursor).toMatchObject({ column: 0, isShown: true });
  });

  test('leaves status --watch as it was last', async () => {
    const scene = await makeScene([WORKING]);
    await scene.run(['-n', '1']);
    const terminal = onTerminal(scene, 'ralph status --watch', { columns: 50 });
    await terminal.until(/max_iterations_reached/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
    const look = terminal.look();
    expect(look.screen()[0]).toBe('t');
    expect(look.screen().join('\n')).not.toContain('^C');
    for (const line of look.screen()) expect(columnsOf(line)).toBeLessThanOrEqual(50);
    expect(look.cursor).toMatchObject({ column: 0, isShown: true });
  });
});

describe.skipIf(!HAS_PSEUDO_TERMINALS)('what goes on now', () => {
  test.for([80, 50])('is shown in %i columns', async (columns) => {
    const scene = await makeScene([
      { tools: [{ name: 'Bash', input: { command: 'npm test' } }], hangs: true },
    ]);
    const terminal = onTerminal(scene, RUN, { columns });
    await terminal.until(/iteration 1\/5 .*░.* \d+s( · .* left)?\n {2}Bash: npm test$/);
    expect(terminal.look().cursor).toMatchObject({ column: 0, isShown: false });
    terminal.type('\u0003');
    await terminal.ended;
  });

  test('a wait is counted down', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const terminal = onTerminal(scene, `${RUN} --delay 5s`);
    await terminal.until(/next iteration in [45]s/);
    await terminal.until(/next iteration in [12]s/);
    expect(await terminal.ended).toBe(0);
  });

  test('a check of the claim is named', async () => {
    const scene = await makeScene([DONE]);
    const terminal = onTerminal(scene, `${RUN} --verify "while [ ! -e go ]; do sleep 0.05; done"`);
    await terminal.until(/^ {2}verifying: while/m);
    await scene.write('go', '');
    expect(await terminal.ended).toBe(0);
  });

  test('loops are seen at a glance, and end with the last', async () => {
    const scene = await makeScene([{ shell: 'while [ ! -e go ]; do sleep 0.05; done', ...DONE }]);
    const ralph = await scene.start(['run', '-p', 'Fix it', '--task-id', 't']);
    await scene.fake.untilCalls(1);
    const terminal = onTerminal(scene, 'ralph status t --watch');
    await terminal.until(/running/);
    await scene.write('go', '');
    expect((await ralph.ended).exitCode).toBe(0);
    await terminal.until(/completed/);
    expect(await terminal.ended).toBe(0);
    expect(terminal.look().screen().join('\n')).not.toMatch(/running/);
  });
});

describe('where no terminal is', () => {
  test.for([
    ['a pipe', { FORCE_COLOR: '3', TERM: 'xterm-256color' }],
    ['cron', { SHELL: '/bin/sh', LOGNAME: 'x', TERM: '' }],
    ['cron, with what it has from a terminal', { TERM: 'dumb', COLUMNS: '20' }],
  ] as const)('plain lines through %s', async ([, env]) => {
    const scene = await makeScene([WORKING, WORKING]);
    const { exitCode, stdout, stderr } = await scene.run(['-n', '2'], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what acts on a terminal
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(stderr).not.toMatch(SPINNER);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.every((line) => line.startsWith('ralph: '))).toBe(true);
    expect(lines).toContain('ralph: next: ralph resume t --max-iterations +5');
    const [ending] = jsonLines(scene.read('.ralph_state/events.jsonl')).slice(-1);
    expect(ending).toMatchObject({ event: 'max_iterations_reached', changes: null });
  });
});

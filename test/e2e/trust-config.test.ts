import { chmodSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { HAS_PSEUDO_TERMINALS, onTerminal } from '../helpers/pseudo-terminal.ts';
import type { RunRalphOptions } from '../helpers/run-ralph.ts';
import { jsonLines, makeScene, type Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// A configuration that was found, not named, runs nothing and allows nothing before a person has trusted
// its very content.

const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RESCUED: Turn = { text: 'Done.\n\nProcessing complete' };
const CONFIG = 'ralph.config.yaml';
const POWERS = 'after: touch ran\nretries: 3\npermission_mode: acceptEdits\n';

/** A scene in which such a configuration lies. */
async function sceneWith(config = POWERS, turns: Turn | readonly Turn[] = DONE): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write(CONFIG, config);
  return scene;
}

const fileIn = (scene: Scene): string => join(scene.folder, CONFIG);

/** What a run says that would use it. */
const refusalIn = (scene: Scene): string =>
  `ralph: ${fileIn(scene)} sets permission_mode, after, and it is new, or has changed since you trusted it. Run ralph trust once: it shows the file and allows its use, in cron too. In CI, name the file: --config FILE or RALPH_CONFIG.\n`;

const saidIn = (scene: Scene): string => `ralph: ${fileIn(scene)} sets permission_mode, after.\n`;

/** The notes of trust. */
function notesIn(scene: Scene): readonly string[] {
  try {
    return readdirSync(join(scene.home, '.config/ralph/trusted'));
  } catch {
    return [];
  }
}

async function expectRefused(
  scene: Scene,
  args: readonly string[] = [],
  options: RunRalphOptions = {},
): Promise<void> {
  const before = scene.names();
  const { exitCode, stdout, stderr } = await scene.run(args, options);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: refusalIn(scene),
  });
  expect(scene.fake.calls()).toEqual([]);
  expect(scene.names()).toEqual(before);
}

/** Trusts it, as a person does. */
async function trust(scene: Scene): Promise<void> {
  expect(await scene.ralph(['trust'])).toMatchObject({ exitCode: 0, stderr: '' });
}

/** Puts a file into a folder as if nobody had touched it for 25 minutes. */
async function stuck(scene: Scene, path: string): Promise<void> {
  const then = Date.now() / 1_000 - 25 * 60;
  utimesSync(await scene.write(path, 'Answer the letter.\n'), then, then);
}

describe('a found configuration that sets what needs trust', () => {
  test('a found configuration that needs trust is refused, with its name, its settings and the remedy, and nothing is started', async () => {
    const scene = await sceneWith();
    for (const args of [[], ['--quiet'], ['--json'], ['--detach'], ['--verbose']]) {
      await expectRefused(scene, args);
    }
    // What a flag overrides is in the file all the same.
    await expectRefused(scene, ['--after', 'true', '--permission-mode', 'plan']);
    await expectRefused(scene, [], { env: { RALPH_RUN_ID: 'outer' } });
    expect(notesIn(scene)).toEqual([]);
  });

  test('ralph trust shows and notes a configuration, and every later start mentions it', async () => {
    const scene = await sceneWith();
    const shown = await scene.ralph(['trust']);
    expect(shown).toMatchObject({
      exitCode: 0,
      stdout: `${fileIn(scene)} sets:\n  permission_mode: acceptEdits\n  after: touch ran\nralph uses this file from now on, until its content changes.\n`,
      stderr: '',
    });
    expect(notesIn(scene)).toHaveLength(1);
    for (const args of [[], ['--verbose']]) {
      const { exitCode, stderr } = await scene.run(args);
      expect({ exitCode, said: stderr.split(saidIn(scene)).length }).toEqual({
        exitCode: 0,
        said: 2,
      });
    }
    expect(scene.has('ran')).toBe(true);
    expect(scene.fake.calls()[0]?.argv).toContain('--permission-mode=acceptEdits');
    expect(await scene.run(['--quiet'])).toMatchObject({ exitCode: 0, stderr: saidIn(scene) });
    const quietJson = await scene.run(['--quiet', '--json']);
    expect(quietJson).toMatchObject({ exitCode: 0, stderr: saidIn(scene) });
    expect(jsonLines(quietJson.stdout).length).toBeGreaterThan(2);
    expect((await scene.run(['--json'])).stderr).toContain(saidIn(scene));
  });

  test('a run mentions once which settings of the configuration are in force, even if it ends badly', async () => {
    const scene = await sceneWith(POWERS, { text: 'Not yet.' });
    await trust(scene);
    const quiet = ['--quiet', '-n', '1', '--no-progress-limit', '0'];
    const one = await scene.run([...quiet, '--permission-mode', 'plan']);
    expect(one.exitCode).toBe(3);
    expect(one.stderr.split(`ralph: ${fileIn(scene)} sets after.\n`)).toHaveLength(2);
    const none = await scene.run([...quiet, '--permission-mode', 'plan', '--after', 'true']);
    expect(none.stderr).not.toContain(' sets ');
  });

  test('each new content has to be trusted, but not one that was trusted before', async () => {
    const scene = await sceneWith();
    await trust(scene);
    await scene.write(CONFIG, `${POWERS} `);
    await expectRefused(scene);
    await scene.write(CONFIG, POWERS);
    expect((await scene.run()).exitCode).toBe(0);
  });

  test('a trusted one that others can write to is refused with that reason', async () => {
    const scene = await sceneWith();
    await trust(scene);
    chmodSync(fileIn(scene), 0o666);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /everyone can write to it.*\n.*which was trusted, is missing or invalid/,
    );
  });

  test('a configuration is trusted only in its own folder', async () => {
    const scene = await sceneWith();
    await trust(scene);
    await scene.write(`clone/${CONFIG}`, POWERS);
    const { exitCode, stderr } = await scene.run([], { cwd: join(scene.folder, 'clone') });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(join(scene.folder, 'clone', CONFIG));
    // From below it the same one is found.
    mkdirSync(join(scene.folder, 'src'));
    const below = await scene.run([], { cwd: join(scene.folder, 'src') });
    expect(below).toMatchObject({ exitCode: 0 });
  });

  test('a configuration that is named needs no trust, and is not mentioned', async () => {
    const scene = await sceneWith();
    const named = [
      () => scene.run(['--config', CONFIG, '--quiet']),
      () => scene.run(['--quiet'], { env: { RALPH_CONFIG: CONFIG } }),
    ];
    for (const run of named) expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    expect(scene.has('ran')).toBe(true);
    expect(notesIn(scene)).toEqual([]);
  });

  test('a configuration without powerful settings needs no trust', async () => {
    const scene = await sceneWith('max_iterations: 3\nmodel: opus\nprompt: Do it\n');
    expect((await scene.run()).exitCode).toBe(0);
    const { exitCode, stdout } = await scene.ralph(['trust']);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `${fileIn(scene)} sets nothing that needs trust.\n`,
    });
    expect(notesIn(scene)).toEqual([]);
  });
});

describe('a configuration that was trusted', () => {
  const GATE = 'verify: "false"\nmax_iterations: 1\n';
  const FREE = 'max_iterations: 100\n';

  async function refusalAfter(change: (scene: Scene) => Promise<unknown>, from = '.') {
    const scene = await sceneWith(GATE);
    await trust(scene);
    await change(scene);
    const { exitCode, stderr } = await scene.run(['--quiet'], { cwd: join(scene.folder, from) });
    expect(scene.fake.calls()).toEqual([]);
    expect(exitCode).toBe(2);
    return { scene, said: stderr.replaceAll(scene.folder, '') };
  }

  test('a trusted configuration without its gate is refused until its new content is trusted', async () => {
    const { scene, said } = await refusalAfter((each) => each.write(CONFIG, FREE));
    expect(said).toMatch(
      /^ralph: \/ralph\.config\.yaml has changed since it was trusted\. Run ralph trust/,
    );
    expect(await scene.run(['--dry-run'])).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('has changed since it was trusted. Run ralph trust'),
    });
    expect((await scene.ralph(['doctor'])).stdout).toContain('has changed since it was trusted');
    await trust(scene);
    expect((await scene.run()).exitCode).toBe(0);
  });

  test('a run is refused if its trusted configuration is gone, or if others can write to it', async () => {
    const gone = await refusalAfter(async ({ folder }) => rmSync(join(folder, CONFIG)));
    expect(gone.said).toBe(
      'ralph: /ralph.config.yaml, which was trusted, is missing or invalid. Restore the file, or stop using it: ralph trust --revoke /ralph.config.yaml\n',
    );
    const { scene } = gone;
    expect((await scene.ralph(['trust', '--revoke', fileIn(scene)])).exitCode).toBe(0);
    expect((await scene.run()).exitCode).toBe(0);
    const open = await refusalAfter(async ({ folder }) => chmodSync(join(folder, CONFIG), 0o666));
    expect(open.said).toContain('is missing or invalid');
  });

  test('a run is refused if another configuration is found in place of the trusted one', async () => {
    const other = await refusalAfter(async (scene) => {
      rmSync(fileIn(scene));
      await scene.write('ralph.config.json', '{}');
    });
    expect(other.said).toContain(
      '/ralph.config.json would be used instead of /ralph.config.yaml, which was trusted.',
    );
    const nearer = await refusalAfter((scene) => scene.write(`pkg/${CONFIG}`, FREE), 'pkg');
    expect(nearer.said).toContain('/pkg/ralph.config.yaml would be used instead of');
    const { scene } = nearer;
    await scene.ralph(['trust'], { cwd: join(scene.folder, 'pkg') });
    expect((await scene.run([], { cwd: join(scene.folder, 'pkg') })).exitCode).toBe(0);
  });
});

test('a clone that ships a configuration, a task and its file is told line by line, and runs nothing', async () => {
  const scene = await makeScene([{ text: 'Not yet.' }, DONE]);
  const attacker = { env: { XDG_STATE_HOME: await tempFolder() } };
  await scene.write('In_Progress/nightly.md', 'Do it.\n');
  await scene.ralph(
    ['run', '--task-file', 'In_Progress/nightly.md', '-n', '1', '--after', 'touch ran'],
    attacker,
  );
  rmSync(join(scene.folder, 'ran'), { force: true });
  const { sum, ...state } = scene.state('nightly');
  const open = { ...state, status: 'running', finished_at: null, exit_reason: null };
  await scene.write('.ralph_state/nightly.json', JSON.stringify(open));
  await scene.write(CONFIG, POWERS);
  const calls = scene.fake.calls().length;
  const cron = ['run', '--task-id', 'nightly', '--resume-if-open', '--prompt', 'Do it', '--quiet'];
  const lines = async (args: readonly string[]): Promise<readonly string[]> => {
    const { exitCode, stdout, stderr } = await scene.ralph(args);
    expect(exitCode).toBeGreaterThan(0);
    expect(stdout).toBe('');
    return stderr.trimEnd().split('\n');
  };
  expect(await lines(cron)).toEqual([
    expect.stringContaining(`${fileIn(scene)} sets permission_mode, after, and it is new`),
  ]);
  // And the task, once that is not in the way.
  expect(await lines([...cron, '--config', CONFIG])).toEqual([
    expect.stringMatching(/^ralph: .*task 'nightly' in .* was not written by you here/),
    'ralph: to look at it: ralph status nightly',
    'ralph: to take it over, if it is yours: ralph resume nightly --trust',
  ]);
  rmSync(fileIn(scene));
  await stuck(scene, 'In_Progress/nightly.md');
  const { stdout } = await scene.ralph(['rescue']);
  expect(stdout).toMatch(/nightly\.md: left: its task was not written by you here/);
  expect(scene.fake.calls()).toHaveLength(calls);
  expect(scene.has('ran')).toBe(false);
});

describe('a plan', () => {
  test('a dry run shows the plan, and says that a run would be refused', async () => {
    const scene = await sceneWith();
    const refusal = refusalIn(scene).replace('ralph: ', '').trimEnd();
    const { exitCode, stdout } = await scene.run(['--dry-run']);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(
      /^The task t \(type default\) would be refused, with exit code 2\. Nothing was started or written\.\n/,
    );
    expect(stdout).toContain(`\nIt would be refused because:\n  ${refusal}\n`);
    expect(stdout).toMatch(/after +"touch ran" +\(ralph\.config\.yaml:1 after\)/);
    const json = await scene.run(['--dry-run', '--json']);
    expect(json.exitCode).toBe(2);
    expect(JSON.parse(json.stdout).refusals).toEqual([refusal]);
    await trust(scene);
    const trusted = JSON.parse((await scene.run(['--dry-run', '--json'])).stdout);
    expect(trusted.refusals).toEqual([]);
    expect(trusted.warnings).toContain(`${fileIn(scene)} sets permission_mode, after.`);
    expect(scene.has('ran')).toBe(false);
  });

  test('a dry run that the configuration asks for cannot go on with a task', async () => {
    const scene = await sceneWith('');
    expect((await scene.run(['--claude-bin', './none'])).exitCode).toBe(1);
    await scene.write(CONFIG, `dry_run: true\nresume_if_open: true\nvault: .\n`);
    const { exitCode, stdout, stderr } = await scene.run();
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('sets vault, and it is new');
    expect(scene.state()).toMatchObject({ status: 'failed' });
  });
});

describe('ralph trust', () => {
  test('ralph trust takes a file by its name, and revokes trust', async () => {
    const scene = await makeScene(DONE);
    await scene.write(`project/${CONFIG}`, POWERS);
    const cwd = join(scene.folder, 'project');
    const file = join(cwd, CONFIG);
    expect((await scene.ralph(['trust', `project/${CONFIG}`])).exitCode).toBe(0);
    expect((await scene.run([], { cwd })).exitCode).toBe(0);
    const revoke = () => scene.ralph(['trust', '--revoke'], { cwd });
    expect(await revoke()).toMatchObject({
      exitCode: 0,
      stdout: `${file} is no longer trusted.\n`,
    });
    expect((await scene.run([], { cwd })).exitCode).toBe(2);
    expect(await revoke()).toMatchObject({ exitCode: 0, stdout: `${file} was not trusted.\n` });
    const byName = await scene.ralph(['trust', '--revoke', `project/${CONFIG}`]);
    expect(byName.stdout).toBe(`${file} was not trusted.\n`);
  });

  test('ralph trust is refused inside a loop', async () => {
    const scene = await sceneWith(POWERS, [
      { ...DONE, shell: 'ralph trust > trusting 2>&1; ralph trust --revoke >> trusting 2>&1' },
    ]);
    expect((await scene.run(['--config', CONFIG])).exitCode).toBe(0);
    const said =
      'ralph: ralph trust is refused inside a loop: that is for a person to decide, from another terminal.\n';
    expect(scene.read('trusting')).toBe(`${said}${said}`);
    expect(notesIn(scene)).toEqual([]);
    const { exitCode } = await scene.ralph(['trust'], { env: { RALPH_RUN_ID: 'outer' } });
    expect(exitCode).toBe(1);
  });

  test('ralph trust refuses a file that no run would use, and notes nothing', async () => {
    const refused = async (scene: Scene, args: readonly string[] = []): Promise<string> => {
      const { exitCode, stdout, stderr } = await scene.ralph(['trust', ...args]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(notesIn(scene)).toEqual([]);
      return stderr;
    };
    const open = await sceneWith();
    chmodSync(fileIn(open), 0o666);
    const others = 'is not used: everyone can write to it; fix that with chmod o-w.';
    expect(await refused(open)).toContain(others);
    expect(await refused(open, [CONFIG])).toContain(others);
    expect(await refused(open, ['none.yaml'])).toMatch(/none\.yaml is not used: it cannot be read/);
    expect(await refused(await makeScene())).toContain(
      'ralph trust expects a configuration, but there is none in',
    );
    expect(await refused(await sceneWith('after: [1\n'))).toContain('is not valid YAML');
    expect(await refused(await sceneWith('after: x\nverify: [1]\n'))).toContain(
      'ralph.config.yaml:2 verify expects a shell command',
    );
    const above = await sceneWith();
    mkdirSync(join(above.folder, 'clone/.git'), { recursive: true });
    const { exitCode, stderr } = await above.ralph(['trust'], { cwd: join(above.folder, 'clone') });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('it is above the git root');
  });

  test('believes nothing that others could have noted', async () => {
    const scene = await sceneWith();
    await trust(scene);
    const store = join(scene.home, '.config/ralph');
    chmodSync(store, 0o777);
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      `(the record of trust is ignored: ${store}: everyone can write to it; fix that with chmod o-w)`,
    );
    const again = await scene.ralph(['trust']);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toMatch(/^ralph: Cannot record trust where others could write: .*\.\n$/);
  });

  test('a mistyped name of it is answered with it', async () => {
    const { exitCode, stderr } = await (await makeScene()).ralph(['trsut']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('did you mean trust?'),
    });
  });
});

describe('every command that reads settings', () => {
  test('rescue refuses it, and says of a trusted one what it sets, quiet or not', async () => {
    const scene = await sceneWith(POWERS, RESCUED);
    await stuck(scene, 'In_Progress/a.md');
    const rescue = (args: readonly string[] = []) => scene.ralph(['rescue', ...args]);
    expect(await rescue()).toMatchObject({ exitCode: 2, stdout: '', stderr: refusalIn(scene) });
    expect(scene.names('In_Progress')).toEqual(['a.md']);
    await trust(scene);
    const { exitCode, stderr } = await rescue(['--quiet']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: saidIn(scene) });
    expect(scene.names('Done')).toEqual(['a.md']);
    expect((await rescue()).stderr).toContain(saidIn(scene));
  });

  test('what asks for a plan only, as a variable or in the file, lets rescue use nothing', async () => {
    const scene = await sceneWith(`${POWERS}dry_run: true\n`, RESCUED);
    await stuck(scene, 'In_Progress/a.md');
    const { exitCode } = await scene.ralph(['rescue'], { env: { RALPH_DRY_RUN: '1' } });
    expect(exitCode).toBe(2);
    expect(scene.fake.calls()).toEqual([]);
  });

  test('watch starts what lands in Needs_Action for no file that nobody has trusted', async () => {
    const scene = await makeScene(RESCUED);
    await scene.write(CONFIG, 'start_new: true\n');
    await scene.write('Needs_Action/letter.md', 'Answer the letter.\n');
    const { exitCode, stderr } = await scene.ralph(['watch']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${fileIn(scene)} sets start_new, and it is new`);
    expect(scene.fake.calls()).toEqual([]);
  });

  test('watch refuses it, says it once, and takes no other one that comes while it watches', async () => {
    const scene = await sceneWith(POWERS);
    const words = ['watch', '--interval', '50ms', '--delay', '0', '--start-new'];
    expect(await scene.ralph(words)).toMatchObject({ exitCode: 2, stderr: refusalIn(scene) });
    await trust(scene);
    const watch = await scene.start([...words, '--quiet']);
    await watch.untilStderr(/ sets permission_mode, after\./);
    await scene.write('Needs_Action/one.md', 'Write it.');
    await scene.fake.untilCalls(1);
    await scene.write(CONFIG, POWERS.replace('touch ran', 'touch evil'));
    await scene.write('Needs_Action/two.md', 'Write it.');
    const told = new Promise<void>((resolve) => {
      const look = (): void => {
        if (watch.stdout().includes('since you trusted it')) resolve();
      };
      watch.child.stdout.on('data', look);
      look();
    });
    await told;
    watch.child.kill('SIGTERM');
    const { stdout, stderr } = await watch.ended;
    expect(stdout).toMatch(
      /Needs_Action\/two\.md: .*it is new, or has changed since you trusted it/,
    );
    expect(stderr.split(saidIn(scene))).toHaveLength(2);
    expect(scene.names('Needs_Action')).toContain('two.md');
    expect(scene.has('evil')).toBe(false);
  });

  test('resume refuses it for a task of another tool, which has today’s settings', async () => {
    const scene = await sceneWith();
    const state = {
      task_id: 'theirs',
      task_prompt: 'Do it.',
      max_iterations: 5,
      status: 'running',
    };
    const text = JSON.stringify({ ...state, started_at: '2026-02-20T23:00:00Z', outputs: [] });
    await scene.write('.ralph_state/theirs.json', text);
    const resume = () => scene.ralph(['resume', 'theirs', '--trust', '--delay', '0', '--quiet']);
    expect(await resume()).toMatchObject({ exitCode: 2, stderr: refusalIn(scene) });
    await trust(scene);
    const { exitCode, stderr } = await resume();
    expect(exitCode).toBe(0);
    expect(stderr).toContain(saidIn(scene));
    expect(stderr).toContain("task 'theirs' was not written by you here; --trust takes it over");
  });

  test('--detach says it to whoever starts, and in the log', async () => {
    const scene = await sceneWith();
    endAllInLater(scene.home);
    await trust(scene);
    const { exitCode, stderr } = await scene.run(['--detach', '--quiet']);
    expect(exitCode).toBe(0);
    expect(stderr.split(saidIn(scene))).toHaveLength(2);
    await untilNobodyIn(scene.home);
    expect(scene.read('.ralph_state/history/t/driver.log')).toContain(saidIn(scene));
  });
});

describe.skipIf(!HAS_PSEUDO_TERMINALS)('at a terminal', () => {
  const RUN = 'ralph run -p "Fix it" --task-id t --delay 0';
  const QUESTION = /Use it from now on\? \[y\/N\]/;

  test.for(['y', 'Yes'])('it is shown and asked for, and %s notes it', async (answer) => {
    const scene = await sceneWith();
    const terminal = onTerminal(scene, `${RUN} --quiet`);
    await terminal.until(QUESTION);
    expect(terminal.written()).toMatch(
      /sets:\s+permission_mode: acceptEdits\s+after: touch ran\s+Use it/,
    );
    expect(scene.names()).toEqual([CONFIG]);
    terminal.type(`${answer}\r`);
    expect(await terminal.ended).toBe(0);
    expect(scene.has('ran')).toBe(true);
    expect(notesIn(scene)).toHaveLength(1);
    // Nobody is asked again.
    expect((await scene.run()).exitCode).toBe(0);
  });

  test.for(['n', '', 'yep', 'no', 'Y es'])('any other answer refuses: %j', async (answer) => {
    const scene = await sceneWith();
    const terminal = onTerminal(scene, RUN);
    await terminal.until(QUESTION);
    terminal.type(`${answer}\r`);
    expect(await terminal.ended).toBe(2);
    expect(terminal.look().screen().join(' ')).toContain(
      'it is new, or has changed since you trusted it',
    );
    expect(notesIn(scene)).toEqual([]);
    expect(scene.fake.calls()).toEqual([]);
  });

  test('Ctrl-C and the end of the input refuse too', async () => {
    for (const [keys, code] of [
      ['\u0003', 130],
      ['\u0004', 2],
    ] as const) {
      const scene = await sceneWith();
      const terminal = onTerminal(scene, RUN);
      await terminal.until(QUESTION);
      terminal.type(keys);
      expect(await terminal.ended).toBe(code);
      expect(notesIn(scene)).toEqual([]);
    }
  });

  test('what is typed for the prompt stays there for it', async () => {
    const scene = await sceneWith();
    const terminal = onTerminal(scene, 'ralph run --prompt - --task-id t --delay 0 --quiet');
    await terminal.until(QUESTION);
    terminal.type('y\rDo this.\r\u0004');
    expect(await terminal.ended).toBe(0);
    expect(scene.prompt(1)).toMatch(/^Do this\.\n/);
  });

  test('rescue and resume ask as well', async () => {
    const scene = await sceneWith(POWERS, RESCUED);
    await stuck(scene, 'In_Progress/a.md');
    const terminal = onTerminal(scene, 'ralph rescue');
    await terminal.until(QUESTION);
    terminal.type('y\r');
    expect(await terminal.ended).toBe(0);
    expect(scene.names('Done')).toEqual(['a.md']);
  });

  test('a watch asks before its first file only: a question would hold up what runs', async () => {
    const scene = await sceneWith();
    await trust(scene);
    const terminal = onTerminal(scene, 'ralph watch --interval 50ms --start-new', { columns: 200 });
    await terminal.until(/watching In_Progress and Needs_Action/);
    await scene.write(CONFIG, POWERS.replace('touch ran', 'touch evil'));
    await scene.write('Needs_Action/one.md', 'Write it.');
    await terminal.until(/one\.md: .*it is new, or has changed since you trusted it/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.written()).not.toMatch(QUESTION);
  });

  test.for([
    ['a program that wants JSON', '', '--json'],
    ['an agent inside a loop', 'env RALPH_RUN_ID=outer ', ''],
    ['a standard input that is no terminal', '', '< /dev/null'],
    ['a standard error that is none', '', '2> said'],
  ] as const)('%s is not asked', async ([, before, after]) => {
    const scene = await sceneWith();
    const terminal = onTerminal(scene, `${before}${RUN} ${after}`);
    expect(await terminal.ended).toBe(2);
    expect(terminal.written()).not.toMatch(QUESTION);
    expect(notesIn(scene)).toEqual([]);
  });
});

import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOSTILE, hostileSign } from '../helpers/hostile-signs.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';

// What a configuration, a task file, a state and an agent say is shown and kept by ralph. None of it
// may act on the terminal of whoever looks.

const RUN = ['run', '--task-id', 't', '--config', 'hostile.yaml', '--delay', '0'];

/** A JSON string is a YAML string: what it holds stands there escaped. */
const quoted = (text: string): string => JSON.stringify(text);

async function hostileScene(): Promise<Scene> {
  const scene = await makeScene([
    { text: HOSTILE, before: [HOSTILE], tools: [{ name: 'Bash', input: { command: HOSTILE } }] },
    { text: HOSTILE },
  ]);
  await scene.write(
    'hostile.yaml',
    `promise: ${quoted(`D${HOSTILE}`)}\nmodel: ${quoted(HOSTILE)}\nverify: ${quoted(`: ${HOSTILE}`)}\nmax_iterations: 2\nwatch_glob: "*.txt"\n`,
  );
  await scene.write(`a\u009b\u202e.txt`, 'x');
  return scene;
}

/** Runs a command and looks at all that it prints. */
async function harmless(scene: Scene, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await scene.ralph(args);
  expect({ args, out: hostileSign(stdout), err: hostileSign(stderr) }).toEqual({
    args,
    out: null,
    err: null,
  });
  return stdout;
}

/** Every file below a folder that a person may look at; logs hold what the agent wrote, byte by byte. */
function keptFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/\.log$|(?:^|\/)prompt\.md$|\/logs\//.test(name))
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

describe('a hostile configuration', () => {
  test('does nothing to the terminal in a dry run, and its values come whole in JSON', async () => {
    const scene = await hostileScene();
    const args = [...RUN, '--prompt', `Fix ${HOSTILE}`, '--dry-run'];
    expect(await harmless(scene, args)).toContain('Done when');
    const plan = JSON.parse(await harmless(scene, [...args, '--json']));
    expect(plan.first_prompt).toContain(`Fix ${HOSTILE}`);
    expect(plan.argv).toContain(`--model=${HOSTILE}`);
  });

  test('nor in a run, in its note, its state and its journal', async () => {
    const scene = await hostileScene();
    await harmless(scene, [...RUN, '--prompt', `Fix ${HOSTILE}`, '--verbose']);
    expect(scene.notes()).toHaveLength(1);
    const files = [
      ...keptFiles(join(scene.folder, '.ralph_state')),
      ...scene.notes().map(({ path }) => path),
    ];
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      expect({ file, sign: hostileSign(readFileSync(file, 'utf8')) }).toEqual({ file, sign: null });
    }
    expect(scene.state().completion_promise).toContain('\u202e');

    const resumed = ['resume', 't', '-n', '+1', '--dry-run'];
    expect(await harmless(scene, resumed)).toContain('Done when');
    const { argv } = JSON.parse(await harmless(scene, [...resumed, '--json']));
    expect(argv).toContain(`--model=${HOSTILE}`);
  });

  test('nor as events in JSON', async () => {
    const scene = await hostileScene();
    const events = await harmless(scene, [...RUN, '--prompt', `Fix ${HOSTILE}`, '--json']);
    expect(events.trimEnd().split('\n').length).toBeGreaterThan(3);
  });

  test('nor where it is refused', async () => {
    const scene = await makeScene();
    await scene.write('hostile.yaml', `${quoted(`k${HOSTILE}`)}: 1\nmatch: ${quoted(HOSTILE)}\n`);
    await harmless(scene, [...RUN, '--prompt', 'x']);
    await harmless(scene, ['doctor', '--config', 'hostile.yaml']);
    await harmless(scene, ['status', HOSTILE]);
  });
});

describe('a hostile task file', () => {
  test('does nothing to the terminal, nor does the note on it', async () => {
    const scene = await makeScene([{ text: 'No.' }]);
    const text = `---\npromise: ${quoted(`D${HOSTILE}`)}\n---\nFix ${HOSTILE}\n`;
    await scene.write('Needs_Action/x.md', text);
    const args = ['run', '--task-file', 'Needs_Action/x.md', '-n', '1', '--delay', '0'];
    expect(await harmless(scene, [...args, '--dry-run'])).toContain('Done when');
    await harmless(scene, args);
    const note = scene.notes().find(({ name }) => name.startsWith('RALPH_'))?.text ?? '';
    expect(note).toContain('Done when');
    expect(hostileSign(note)).toBeNull();
  });

  test('nor does a vault whose name is hostile, where a pass warns of it', async () => {
    const scene = await makeScene();
    const vault = 'v\u009b\u202e';
    const file = await scene.write(`${vault}/In_Progress/payment.md`, 'Pay 500 EUR.\n');
    utimesSync(file, new Date('2026-01-01'), new Date('2026-01-01'));
    await scene.write('elsewhere/x', '');
    await symlink('../elsewhere', join(scene.folder, vault, 'Needs_Action'));
    const { stderr } = await scene.ralph(['rescue', '--vault', vault]);
    expect(stderr).toContain('could not be written');
    expect(hostileSign(stderr)).toBeNull();
  });
});

describe('a hostile state', () => {
  /** A task that waits for an approval, its state changed by somebody. */
  async function forged(changes: (state: Json) => object): Promise<Scene> {
    const scene = await makeScene([
      { text: 'I ask.\n\n<approval id="deploy">deploy it</approval>' },
    ]);
    await scene.ralph(['run', '-p', 'x', '--task-id', 't', '--no-wait', '--delay', '0']);
    const state = scene.state();
    await scene.write('.ralph_state/t.json', JSON.stringify({ ...state, ...changes(state) }));
    await scene.write(`Pending_Approval/${HOSTILE.slice(-8)}.md`, '');
    return scene;
  }

  async function looksHarmless(scene: Scene): Promise<void> {
    for (const args of [
      ['status'],
      ['status', 't'],
      ['status', '--json'],
      ['status', 't', '--json'],
      ['approvals'],
      ['approvals', '--json'],
      ['report'],
      ['report', '--json'],
      ['report', '--html', 'page.html'],
      ['check', 't'],
      ['check', HOSTILE],
      ['resume', 't', '--dry-run'],
      ['resume', 't', '--dry-run', '--json'],
    ]) {
      await harmless(scene, args);
    }
    expect(hostileSign(scene.read('page.html'))).toBeNull();
  }

  test('does nothing to the terminal, whatever is asked of it', async () => {
    const scene = await forged(({ approval }) => ({
      task_id: `t${HOSTILE}`,
      task_prompt: HOSTILE,
      task_type: HOSTILE,
      completion_promise: HOSTILE,
      exit_reason: HOSTILE,
      session_id: HOSTILE,
      approval: { ...approval, what: HOSTILE },
      [HOSTILE]: HOSTILE,
    }));
    await looksHarmless(scene);
    expect(await harmless(scene, ['approvals'])).toContain('waiting for');
  });

  test('nor does an instant that is more than one', async () => {
    const scene = await forged(({ started_at }) => {
      // `Date.parse` passes over what stands in brackets.
      const at = `${started_at.slice(0, 10)} (${HOSTILE.slice(0, 12)})`;
      expect(Number.isNaN(Date.parse(at))).toBe(false);
      return { status: 'running', updated_at: at, wait: { kind: 'delay', until: at } };
    });
    await looksHarmless(scene);
  });

  test('nor does what a stop hook is answered', async () => {
    const scene = await makeScene();
    const state = JSON.stringify({
      task_id: 't',
      status: 'running',
      started_at: new Date().toISOString(),
      kept_by: 'library',
      completion_promise: `D${HOSTILE}`,
      task_prompt: HOSTILE,
      max_iterations: 9,
    });
    await scene.write('.ralph_state/t.json', state);
    await scene.write('.ralph_state/t/prompt.md', `Fix ${HOSTILE}`);
    const { stdout } = await scene.ralph(['check', 't', '--trust', '--hook'], {
      input: '{}',
    });
    expect(JSON.parse(stdout).reason).toContain(`Fix ${HOSTILE}`);
    expect(hostileSign(stdout)).toBeNull();
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findOtherLoops } from '../../../src/effects/claude/other-loops.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const STOP_HOOK = {
  hooks: {
    Stop: [{ hooks: [{ type: 'command', command: '/plugins/ralph-loop/hooks/stop-hook.sh' }] }],
  },
};
const STALE = '.claude/ralph-loop.local.md';
const PROJECT = '.claude/settings.json';
const LOCAL = '.claude/settings.local.json';

/** A folder to work in and a home, with files in each. */
async function stage(
  files: Readonly<Record<string, unknown>>,
  homeFiles: Readonly<Record<string, unknown>> = {},
) {
  const cwd = await tempFolder();
  const home = await tempFolder();
  for (const [folder, all] of [
    [cwd, files],
    [home, homeFiles],
  ] as const) {
    for (const [name, content] of Object.entries(all)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      await writeFile(join(folder, name), text);
    }
  }
  return { cwd, home, find: (env = { HOME: home }) => findOtherLoops(cwd, env) };
}

describe('a folder without another loop', () => {
  test.for<[string, Readonly<Record<string, unknown>>]>([
    ['is empty', {}],
    ['has settings of other kinds', { [PROJECT]: { model: 'opus', hooks: { PreToolUse: [] } } }],
    [
      'has a stop hook that is no loop',
      {
        [PROJECT]: {
          hooks: { Stop: [{ hooks: [{ type: 'command', command: 'notify-send done' }] }] },
        },
      },
    ],
    [
      'has a ralph hook for something else',
      { [PROJECT]: { hooks: { PreToolUse: STOP_HOOK.hooks.Stop } } },
    ],
    [
      'has the plugin turned off',
      { [PROJECT]: { enabledPlugins: { 'ralph-loop@official': false } } },
    ],
    ['has other plugins', { [PROJECT]: { enabledPlugins: { 'docs@official': true } } }],
    ['has broken settings', { [PROJECT]: '{"hooks": {"Stop": "ralph"', [LOCAL]: '' }],
    ['has settings that are no object', { [PROJECT]: '["ralph"]', [LOCAL]: 'null' }],
    ['has hooks that are no object', { [PROJECT]: { hooks: 'ralph', enabledPlugins: ['ralph'] } }],
    ['has a folder in the place of its settings', { '.claude/settings.json/x': '' }],
  ])('%s: nothing is said', async ([, files]) => {
    expect((await stage(files)).find()).toEqual([]);
  });
});

/** Settings with a stop hook of one command. */
const hookOf = (command: string) => ({
  [PROJECT]: { hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } },
});

test.for([
  'ralph check my-task --hook --vault "$CLAUDE_PROJECT_DIR"',
  'npx ralph check --hook',
  '/usr/local/bin/ralph check my-task',
])('a hook that lets go inside a loop is no other loop: %s', async (command) => {
  expect((await stage(hookOf(command))).find()).toEqual([]);
});

test.for([
  'ralph check x --hook; /plugins/ralph-loop/stop.sh',
  'ralph checkup',
  'my-ralph check x',
])('what only looks like it is seen: %s', async (command) => {
  expect((await stage(hookOf(command))).find()).toHaveLength(1);
});

describe('another loop is seen', () => {
  test('by what it left behind', async () => {
    const { cwd, find } = await stage({ [STALE]: 'iteration: 3\n' });
    expect(find()).toEqual([expect.stringMatching(/belongs to a loop .*; remove it\.$/)]);
    expect(find()[0]).toContain(join(cwd, STALE));
  });

  test.for([PROJECT, LOCAL])('by a stop hook in %s', async (name) => {
    const { cwd, find } = await stage({ [name]: STOP_HOOK });
    expect(find()).toEqual([
      `${join(cwd, name)} has a stop hook for a ralph loop, which would keep the agent from ending; remove it.`,
    ]);
  });

  test("by a stop hook in the user's own settings", async () => {
    const { home, find } = await stage({}, { [PROJECT]: STOP_HOOK });
    expect(find()).toEqual([expect.stringContaining(join(home, PROJECT))]);
    expect(find({ HOME: '' })).toEqual([]);
  });

  test('by its plugin, turned on', async () => {
    const { find } = await stage({
      [LOCAL]: { enabledPlugins: { 'docs@x': true, 'Ralph-Wiggum@official': true } },
    });
    expect(find()).toEqual([expect.stringContaining(LOCAL)]);
  });

  test('beside settings that are broken', async () => {
    const { find } = await stage({ [PROJECT]: '{', [LOCAL]: STOP_HOOK });
    expect(find()).toHaveLength(1);
  });

  test('each of them, in order, and each file once', async () => {
    const files = { [STALE]: '', [PROJECT]: { ...STOP_HOOK, enabledPlugins: { ralph: true } } };
    const { cwd, home, find } = await stage(
      { ...files, [LOCAL]: STOP_HOOK },
      { [PROJECT]: STOP_HOOK },
    );
    const places = [join(cwd, STALE), join(cwd, PROJECT), join(cwd, LOCAL), join(home, PROJECT)];
    expect(find()).toEqual(places.map((place) => expect.stringContaining(place)));
    // Started in the home folder itself.
    expect(find({ HOME: cwd })).toHaveLength(3);
  });

  test('and not by a name that merely stands in the way to its hook: a user may be called so', async () => {
    const { home, find } = await stage({});
    const ralphs = join(home, 'ralph');
    const command = `${ralphs}/bin/notify.sh`;
    await mkdir(join(ralphs, '.claude'), { recursive: true });
    await writeFile(
      join(ralphs, PROJECT),
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }),
    );
    expect(find({ HOME: ralphs })).toEqual([]);
  });
});

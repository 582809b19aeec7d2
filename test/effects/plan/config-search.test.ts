import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  type ConfigSearch,
  findConfig,
  readNamedConfig,
} from '../../../src/effects/plan/config-search.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const CONFIG = 'ralph.config.yaml';

/** A home with a project in it; no file above it is any of the test's business. */
async function makeHome() {
  const home = await tempFolder();
  const project = join(home, 'code', 'project');
  await mkdir(join(project, 'src', 'deep'), { recursive: true });
  const put = async (path: string, text = `from: ${path}\n`): Promise<string> => {
    const file = join(home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, 0o644);
    return file;
  };
  return {
    home,
    project,
    put,
    find: (start = project): ConfigSearch => findConfig(start, { HOME: home }),
  };
}

function expectUsed(search: ConfigSearch, file: string, text: string): void {
  expect(search).toEqual({ config: { file, text, wasFound: true }, notices: [], problems: [] });
}

/** A file beyond the border is only told of; what is wrong with another one is a problem. */
function expectNotUsed(search: ConfigSearch, file: string, reason: RegExp): void {
  const isBeyond = reason.source.includes('above');
  const [told, others] = isBeyond
    ? [search.notices, search.problems]
    : [search.problems, search.notices];
  expect(search.config).toBeNull();
  expect(others).toEqual([]);
  const remedy = isBeyond
    ? ''
    : ' --config FILE names the one to use, also where chmod has no effect.';
  const [sentence = ''] = told;
  expect(sentence.startsWith(`${file} is not used: `)).toBe(true);
  expect(sentence.endsWith(remedy)).toBe(true);
  expect(sentence.slice(0, sentence.length - remedy.length)).toMatch(reason);
}

describe('the nearest configuration upward', () => {
  test('is the one of the folder itself', async () => {
    const { put, find } = await makeHome();
    await put(`code/${CONFIG}`);
    const file = await put(`code/project/${CONFIG}`, 'retries: 1\n');
    expectUsed(find(), file, 'retries: 1\n');
  });

  test('may lie some folders above', async () => {
    const { put, find, project } = await makeHome();
    await put(CONFIG);
    const file = await put(`code/${CONFIG}`, 'retries: 2\n');
    expectUsed(find(join(project, 'src', 'deep')), file, 'retries: 2\n');
  });

  test.for([CONFIG, 'ralph.config.yml', 'ralph.config.json'])('may be called %s', async (name) => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${name}`, '{}\n');
    expectUsed(find(), file, '{}\n');
  });

  test('is one file only, by the order of the names', async () => {
    const { put, find } = await makeHome();
    await put('code/project/ralph.config.json', '{}');
    await put('code/project/ralph.config.yml', 'retries: 1\n');
    const file = await put(`code/project/${CONFIG}`, 'retries: 2\n');
    expectUsed(find(), file, 'retries: 2\n');
  });

  test('may be none', async () => {
    const { find } = await makeHome();
    expect(find()).toEqual({ config: null, notices: [], problems: [] });
  });
});

describe('the border', () => {
  test.for(['a folder', 'a file, as in a worktree'])(
    'is the git root, where .git is %s',
    async (kind) => {
      const { home, put, find, project } = await makeHome();
      const file = await put(`code/${CONFIG}`);
      if (kind === 'a folder') await mkdir(join(project, '.git'));
      else await put('code/project/.git', 'gitdir: elsewhere\n');
      for (const start of [project, join(project, 'src', 'deep')]) {
        expectNotUsed(find(start), file, /: it is above the git root; name it with --config\.$/);
      }
      // The root itself is within.
      const own = await put(`code/project/${CONFIG}`, 'retries: 1\n');
      expectUsed(find(join(project, 'src')), own, 'retries: 1\n');
      expect(home).not.toBe(project);
    },
  );

  test('is the home folder', async () => {
    const { home, put, find } = await makeHome();
    const above = await put(CONFIG);
    const nearer = join(home, 'code');
    expectNotUsed(
      findConfig(join(nearer, 'project'), { HOME: nearer }),
      above,
      /above the home folder/,
    );
    expectUsed(find(), above, `from: ${CONFIG}\n`);
  });

  test('is the home folder also where a link leads to it', async () => {
    const { home, put, project } = await makeHome();
    const above = await put(CONFIG);
    await symlink(join(home, 'code'), join(home, 'link'));
    expectNotUsed(
      findConfig(project, { HOME: join(home, 'link') }),
      above,
      /above the home folder/,
    );
  });

  test('hides what lies beyond two of them', async () => {
    const { home, put, project } = await makeHome();
    await mkdir(join(project, '.git'));
    const above = await put(CONFIG);
    const search = findConfig(project, { HOME: join(home, 'code') });
    expectNotUsed(search, above, /above the git root/);
  });
});

describe('a found file that somebody else could have written is not used', () => {
  test.for([0o646, 0o666, 0o602])('everybody can write it: %o', async (mode) => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`);
    await chmod(file, mode);
    expectNotUsed(find(), file, /everyone can write to it; fix that with chmod o-w\.$/);
    await chmod(file, 0o644);
    expect(find().config?.file).toBe(file);
  });

  test('and no other one further up in its place', async () => {
    const { put, find } = await makeHome();
    await put(`code/${CONFIG}`);
    const file = await put(`code/project/${CONFIG}`);
    await chmod(file, 0o666);
    expectNotUsed(find(), file, /everyone/);
  });

  test('a link is judged by what it leads to', async () => {
    const { put, find, project } = await makeHome();
    const open = await put('open.yaml');
    await chmod(open, 0o666);
    await symlink(open, join(project, CONFIG));
    expectNotUsed(find(), join(project, CONFIG), /everyone can write to it/);
  });

  test('a group of several can write it', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`);
    await chmod(file, 0o664);
    // The user's own group has his number; this one has another.
    vi.spyOn(process, 'getgid').mockReturnValue((process.getgid?.() ?? 0) + 1);
    expectNotUsed(find(), file, /its group can write to it; fix that with chmod g-w\.$/);
    vi.restoreAllMocks();
  });

  test.skipIf(process.getuid?.() !== 0)('a group that is nobody’s own', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`);
    await chown(file, 0, 12_345);
    await chmod(file, 0o664);
    expectNotUsed(find(), file, /its group can write to it/);
    await chmod(file, 0o644);
    expect(find().config?.file).toBe(file);
  });

  test.skipIf(process.getuid?.() !== 0)('it belongs to another user', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`);
    await chown(file, 12_345, 12_345);
    expectNotUsed(find(), file, /it belongs to another user \(12345\)\.$/);
  });
});

describe('whose file it may be', () => {
  test.for([
    ['the user’s own', 12_345, 12_345, true],
    ['root’s', 0, 12_345, true],
    ['another user’s', 12_346, 12_345, false],
  ] as const)('%s', async ([, owner, user, isUsed]) => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`, 'retries: 1\n');
    const isRoot = process.getuid?.() === 0;
    // Only root can give files away; for anybody else his own file stands in for theirs.
    if (isRoot) await chown(file, owner, owner);
    else if (owner === 0) return;
    const self = process.getuid?.() ?? 0;
    vi.spyOn(process, 'getuid').mockReturnValue(isRoot ? user : owner === user ? self : self + 1);
    if (isUsed) expectUsed(find(), file, 'retries: 1\n');
    else expectNotUsed(find(), file, /belongs to another user/);
    vi.restoreAllMocks();
  });

  test('a group of the user’s own may write it', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`, 'retries: 1\n');
    await chmod(file, 0o664);
    if (process.getuid?.() !== process.getgid?.()) return;
    expectUsed(find(), file, 'retries: 1\n');
  });
});

describe('a found file that cannot be read is not used, and the reason said', () => {
  test('a folder', async () => {
    const { find, project } = await makeHome();
    await mkdir(join(project, CONFIG));
    expectNotUsed(find(), join(project, CONFIG), /it is not a regular file\.$/);
  });

  test('a pipe, which would be waited for', async () => {
    const { find, project } = await makeHome();
    spawnSync('mkfifo', [join(project, CONFIG)]);
    expectNotUsed(find(), join(project, CONFIG), /it is not a regular file\.$/);
  });

  test.skipIf(process.getuid?.() === 0)('one without permission', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`);
    await chmod(file, 0o000);
    expectNotUsed(find(), file, /it cannot be read \(EACCES/);
  });

  test('a link that leads nowhere is none', async () => {
    const { put, find, project } = await makeHome();
    const above = await put(`code/${CONFIG}`, 'retries: 1\n');
    await symlink(join(project, 'gone'), join(project, CONFIG));
    expectUsed(find(), above, 'retries: 1\n');
  });
});

describe('a named file', () => {
  test('is used wherever it lies and whoever can write it', async () => {
    const { put, project } = await makeHome();
    await mkdir(join(project, '.git'));
    const file = await put('odd name.yaml', 'retries: 1\n');
    await chmod(file, 0o666);
    if (process.getuid?.() === 0) await chown(file, 12_345, 12_345);
    expect(readNamedConfig(file, '--config')).toEqual({
      config: { file, text: 'retries: 1\n', wasFound: false },
      notices: [],
      problems: [],
    });
  });

  test.for(['missing', 'a folder'])('has to be one that can be read: %s', async (what) => {
    const { home } = await makeHome();
    const file = what === 'missing' ? join(home, 'missing.yaml') : home;
    const search = readNamedConfig(file, 'RALPH_CONFIG');
    expect(search).toMatchObject({ config: null, notices: [] });
    expect(search.problems).toEqual([
      expect.stringMatching(/^RALPH_CONFIG expects a file that can be read; found: E[A-Z]+: .+\.$/),
    ]);
  });
});

describe('a file beyond all measure', () => {
  test('is refused, found or named, and not read to its end', async () => {
    const { put, find } = await makeHome();
    const file = await put(`code/project/${CONFIG}`, '');
    // A hole of 8 GB: to hold it would be noticed.
    await truncate(file, 8 * 2 ** 30);
    const refused = {
      config: null,
      notices: [],
      problems: [expect.stringContaining(`${file} is larger than 64 KB`)],
    };
    expect(find()).toEqual(refused);
    expect(readNamedConfig(file, '--config')).toEqual(refused);
    expect(readNamedConfig('/dev/zero', '--config').problems).toHaveLength(1);
  });

  test('is one of more than 64 KB', async () => {
    const { put, find } = await makeHome();
    const text = `# ${'ä'.repeat(32 * 1024 - 2)}\n\n`;
    expect(Buffer.byteLength(text)).toBe(64 * 1024);
    const file = await put(`code/project/${CONFIG}`, text);
    expectUsed(find(), file, text);
    await put(`code/project/${CONFIG}`, `${text}#`);
    expect(find().problems).toHaveLength(1);
    await rm(file);
    expect(find()).toEqual({ config: null, notices: [], problems: [] });
  });
});

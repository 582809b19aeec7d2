import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ConfigText } from '../../../src/effects/plan/config-search.ts';
import { noteTrust, revokeTrust, trustStanding } from '../../../src/effects/plan/trust-store.ts';
import { UsageError } from '../../../src/errors.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const isRoot = process.getuid?.() === 0;

/** A home with a project in it, and what is trusted there. */
async function makeHome() {
  const home = await tempFolder();
  const project = join(home, 'project');
  await mkdir(project);
  const env = { HOME: home };
  const config = (text: string, folder = project): ConfigText => ({
    file: join(folder, 'ralph.config.yaml'),
    text,
    wasFound: true,
  });
  const notes = join(home, '.config', 'ralph', 'trusted');
  const standing = (each: ConfigText) => trustStanding(each, env);
  return { home, project, env, config, notes, standing };
}

const TRUSTED = { kind: 'trusted' };
const UNTRUSTED = { kind: 'untrusted' };

describe('trust', () => {
  test('is in one content at one place', async () => {
    const { home, env, config, standing } = await makeHome();
    expect(standing(config('verify: a\n'))).toEqual(UNTRUSTED);
    await noteTrust(config('verify: a\n'), env);
    expect(standing(config('verify: a\n'))).toEqual(TRUSTED);
    expect(standing(config('verify: a \n'))).toEqual(UNTRUSTED);
    expect(standing(config('verify: a\n', home))).toEqual(UNTRUSTED);
    // What was trusted before is so again: two branches may have a content each.
    await noteTrust(config('verify: b\n'), env);
    expect([standing(config('verify: a\n')), standing(config('verify: b\n'))]).toEqual([
      TRUSTED,
      TRUSTED,
    ]);
    await noteTrust(config('verify: b\n'), env);
  });

  test('goes by where a folder really is, and not by what a link in it leads to', async () => {
    const { home, project, env, config, standing } = await makeHome();
    await writeFile(join(project, 'ralph.config.yaml'), 'verify: a\n');
    await noteTrust(config('verify: a\n'), env);
    await symlink(project, join(home, 'door'));
    expect(standing(config('verify: a\n', join(home, 'door')))).toEqual(TRUSTED);
    // Another folder, in which the same words mean other files.
    const other = join(home, 'other');
    await mkdir(other);
    await symlink(join(project, 'ralph.config.yaml'), join(other, 'ralph.config.yaml'));
    expect(standing(config('verify: a\n', other))).toEqual(UNTRUSTED);
  });

  test('is noted for its owner alone, with the place in it', async () => {
    const { env, config, notes } = await makeHome();
    const { file } = config('');
    await noteTrust(config('verify: a\n'), env);
    const [name = '', ...others] = readdirSync(notes);
    expect(others).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(readFileSync(join(notes, name), 'utf8')).toBe(`${file}\n`);
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([mode(join(notes, '..')), mode(notes), mode(join(notes, name))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
  });

  test('lies in XDG_CONFIG_HOME where that is absolute', async () => {
    const { home, config, notes } = await makeHome();
    const own = { HOME: home, XDG_CONFIG_HOME: join(home, 'own') };
    await noteTrust(config('verify: a\n'), own);
    expect(trustStanding(config('verify: a\n'), own)).toEqual(TRUSTED);
    expect(readdirSync(join(home, 'own', 'ralph', 'trusted'))).toHaveLength(1);
    expect(existsSync(notes)).toBe(false);
    for (const XDG_CONFIG_HOME of ['relative', '.', '']) {
      const env = { HOME: home, XDG_CONFIG_HOME };
      await noteTrust(config(XDG_CONFIG_HOME), env);
      expect(trustStanding(config(XDG_CONFIG_HOME), { HOME: home })).toEqual(TRUSTED);
    }
    expect(readdirSync(notes)).toHaveLength(3);
    expect(existsSync('relative')).toBe(false);
  });

  test('is taken back in every content that a place had, and in no other place', async () => {
    const { home, env, config, standing } = await makeHome();
    const all = [config('a'), config('b'), config('a', home)];
    for (const each of all) await noteTrust(each, env);
    expect(revokeTrust(config('').file, env)).toBe(true);
    expect(all.map(standing)).toEqual([UNTRUSTED, UNTRUSTED, TRUSTED]);
    expect(revokeTrust(config('').file, env)).toBe(false);
  });

  test('is taken back also in a file that is gone', async () => {
    const { home, project, env, config, standing } = await makeHome();
    await noteTrust(config('a'), env);
    await rm(project, { recursive: true });
    expect(revokeTrust(config('').file, env)).toBe(true);
    await mkdir(project);
    expect(standing(config('a'))).toEqual(UNTRUSTED);
    expect(existsSync(home)).toBe(true);
  });
});

describe('what others could have noted is not believed', () => {
  test.for([
    ['everybody can write the notes', '.', 0o777],
    ['everybody can write the folder above', '..', 0o777],
    ['everybody can write it, and none may remove', '.', 0o1777],
  ] as const)('%s', async ([, folder, mode]) => {
    const { env, config, notes, standing } = await makeHome();
    await noteTrust(config('a'), env);
    await chmod(join(notes, folder), mode);
    const why = `${join(notes, folder)}: everyone can write to it; fix that with chmod o-w`;
    expect(standing(config('a'))).toEqual({ kind: 'unsafe', why });
    await expect(noteTrust(config('b'), env)).rejects.toThrow(why);
    expect(() => revokeTrust(config('').file, env)).toThrow(UsageError);
    await chmod(join(notes, folder), 0o700);
    expect(standing(config('a'))).toEqual(TRUSTED);
  });

  test.skipIf(!isRoot).for([['.'], ['..']] as const)(
    'the folder %s is another user’s',
    async ([folder]) => {
      const { env, config, notes, standing } = await makeHome();
      await noteTrust(config('a'), env);
      await chown(join(notes, folder), 12_345, 12_345);
      const why = `${join(notes, folder)}: it belongs to another user (12345)`;
      expect(standing(config('a'))).toEqual({ kind: 'unsafe', why });
      await expect(noteTrust(config('b'), env)).rejects.toThrow(
        `Cannot record trust where others could write: ${why}.`,
      );
    },
  );

  test('a note that is no file, a link, or anybody’s', async () => {
    const { env, config, notes, standing } = await makeHome();
    await noteTrust(config('a'), env);
    const note = join(notes, readdirSync(notes)[0] ?? '');
    await chmod(note, 0o666);
    expect(standing(config('a'))).toEqual(UNTRUSTED);
    await chmod(note, 0o600);
    expect(standing(config('a'))).toEqual(TRUSTED);
    await rename(note, join(notes, 'elsewhere'));
    await symlink(join(notes, 'elsewhere'), note);
    expect(standing(config('a'))).toEqual(UNTRUSTED);
    await rm(note);
    await mkdir(note);
    expect(standing(config('a'))).toEqual(UNTRUSTED);
  });

  test('a folder that cannot be one is a usage error, not a crash', async () => {
    const { home, env, config, standing } = await makeHome();
    await writeFile(join(home, '.config'), '');
    expect(standing(config('a'))).toMatchObject({
      kind: expect.stringMatching(/untrusted|unsafe/),
    });
    await expect(noteTrust(config('a'), env)).rejects.toThrow(/^Cannot record trust in /);
    await expect(noteTrust(config('a'), env)).rejects.toThrow(UsageError);
  });
});

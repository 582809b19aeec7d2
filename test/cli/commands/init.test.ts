import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { init } from '../../../src/cli/commands/installation/init.ts';
import { readConfig } from '../../../src/cli/settings/config-file.ts';
import { configTemplate } from '../../../src/core/settings/config-template.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FOLDERS = [
  'Approved',
  'Done',
  'In_Progress',
  'Needs_Action',
  'Pending_Approval',
  'Quarantine',
  'Rejected',
];

let printed = '';
beforeEach(() => {
  printed = '';
  vi.stubEnv('RALPH_VAULT', undefined);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const lines = (beginning: string): readonly string[] =>
  printed.split('\n').filter((line) => line.startsWith(beginning));

describe('ralph init', () => {
  test('creates every folder and the configuration in an empty folder', async () => {
    const vault = await tempFolder();
    expect(init({ vault })).toBe(0);
    expect(readdirSync(vault).toSorted()).toEqual([...FOLDERS, 'ralph.config.yaml']);
    expect(readFileSync(join(vault, 'ralph.config.yaml'), 'utf8')).toBe(configTemplate('npm test'));
    expect(statSync(join(vault, 'ralph.config.yaml')).mode & 0o777).toBe(0o600);
    expect(lines('created')).toHaveLength(FOLDERS.length + 1);
    expect(lines('exists')).toEqual([`exists       ${vault}`]);
    expect(printed).toContain('ralph doctor');
  });

  test('sets the agent that is named, which needs trust', async () => {
    const vault = await tempFolder();
    expect(init({ vault, agent: 'codex' })).toBe(0);
    const file = join(vault, 'ralph.config.yaml');
    const text = readFileSync(file, 'utf8');
    const { layer, problems } = readConfig({ file, text, wasFound: false });
    expect(problems).toEqual([]);
    expect(layer.agent?.value).toBe('codex');
    expect(Object.keys(layer)).toEqual(['agent']);
    expect(printed).toContain('ralph trust');
    expect(() => init({ vault, agent: 'other' })).toThrow(/expects one of claude, codex/);
  });

  test('creates the vault itself, with the folders above it', async () => {
    const vault = join(await tempFolder(), 'a', 'b');
    expect(init({ vault })).toBe(0);
    expect(lines('created')).toHaveLength(FOLDERS.length + 2);
    expect(printed).toContain(`--config ${vault}/ralph.config.yaml`);
  });

  test('uses the folder in which ralph was started, and then does not mention --config', async () => {
    const vault = await tempFolder();
    vi.spyOn(process, 'cwd').mockReturnValue(vault);
    expect(init({})).toBe(0);
    expect(lines('created')).toContain('created      ralph.config.yaml');
    expect(printed).not.toContain('--config');
  });

  test.for([
    ['package.json', 'npm test'],
    ['pyproject.toml', 'pytest'],
    ['Cargo.toml', 'cargo test'],
    ['go.mod', 'go test ./...'],
    ['Makefile', 'make test'],
  ] as const)('writes only a short configuration in a project with %s', async ([file, tests]) => {
    const folder = await tempFolder();
    await mkdir(join(folder, '.git'));
    await writeFile(join(folder, file), '');
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    expect(init({})).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(['.git', file, 'ralph.config.yaml'].toSorted());
    expect(printed.trimEnd().split('\n').at(-1)).toBe(
      `Next: ralph run "Make the failing tests pass" --verify "${tests}" --edit`,
    );
    const text = readFileSync(join(folder, 'ralph.config.yaml'), 'utf8');
    expect(text).toContain(`# verify: ["${tests}"]\n`);
    expect(text.split('\n').length).toBeLessThanOrEqual(41);
  });

  test('makes the folders of a vault in a project that has one, or where --vault says so', async () => {
    const folder = await tempFolder();
    for (const name of ['.git', 'Done']) await mkdir(join(folder, name));
    await writeFile(join(folder, 'package.json'), '');
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    init({});
    expect(readdirSync(folder)).toContain('Needs_Action');
    const other = await tempFolder();
    await mkdir(join(other, '.git'));
    await writeFile(join(other, 'go.mod'), '');
    init({ vault: other });
    expect(readdirSync(other)).toContain('Needs_Action');
  });

  test('the settings that it shows are right, each by itself and all together', () => {
    const text = configTemplate('npm test').replaceAll(/^# (?=\w+: )/gm, '');
    const { layer, problems } = readConfig({ file: 'ralph.config.yaml', text, wasFound: false });
    expect(problems).toEqual([]);
    expect(Object.keys(layer)).toHaveLength(10);
    expect(resolveSettings([layer]).problems).toEqual([]);
  });

  test('changes nothing the second time', async () => {
    const vault = await tempFolder();
    init({ vault });
    await writeFile(join(vault, 'ralph.config.yaml'), 'max_iterations: 7\n');
    await writeFile(join(vault, 'Done', 'kept.md'), 'kept');
    printed = '';
    expect(init({ vault })).toBe(0);
    expect(lines('created')).toEqual([]);
    expect(lines('exists')).toHaveLength(FOLDERS.length + 2);
    expect(readFileSync(join(vault, 'ralph.config.yaml'), 'utf8')).toBe('max_iterations: 7\n');
    expect(readdirSync(join(vault, 'Done'))).toEqual(['kept.md']);
  });

  test.for(['ralph.config.yml', 'ralph.config.json'])(
    'puts no second one beside %s',
    async (name) => {
      const vault = await tempFolder();
      await writeFile(join(vault, name), '{}');
      expect(init({ vault })).toBe(0);
      expect(readdirSync(vault)).not.toContain('ralph.config.yaml');
      expect(lines('exists')).toContain(`exists       ${join(vault, name)}`);
    },
  );

  test('writes through no link, and creates nothing behind a link that leads out', async () => {
    const vault = await tempFolder();
    const elsewhere = await tempFolder();
    await symlink(elsewhere, join(vault, 'Done'));
    await symlink(join(elsewhere, 'nothing'), join(vault, 'Approved'));
    await symlink(join(elsewhere, 'config'), join(vault, 'ralph.config.yaml'));
    expect(init({ vault })).toBe(1);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(lines('not created')).toEqual([
      `not created  ${vault}/Approved: it is a link to nothing`,
      `not created  ${vault}/Done: it is a link that leads out of the vault`,
    ]);
    expect(lstatSync(join(vault, 'ralph.config.yaml')).isSymbolicLink()).toBe(true);
    expect(lines('created')).toHaveLength(FOLDERS.length - 2);
  });

  test('accepts a link that stays within the vault', async () => {
    const vault = await tempFolder();
    await mkdir(join(vault, 'archive'));
    await symlink(join(vault, 'archive'), join(vault, 'Done'));
    expect(init({ vault })).toBe(0);
    expect(lines('exists')).toContain(`exists       ${vault}/Done`);
  });

  test('says which path is taken by something else', async () => {
    const vault = await tempFolder();
    await writeFile(join(vault, 'Done'), '');
    expect(init({ vault })).toBe(1);
    expect(lines('not created')).toEqual([`not created  ${vault}/Done: it is not a folder`]);
    expect(init({ vault: join(vault, 'Done') })).toBe(1);
    expect(printed).toContain('it is not a folder');
  });
});

describe('the configuration it writes', () => {
  const text = configTemplate('npm test');

  test('sets nothing', () => {
    const { layer, taskTypes, problems } = readConfig({ file: '/c.yaml', text, wasFound: true });
    expect({ layer, taskTypes, problems }).toEqual({ layer: {}, taskTypes: {}, problems: [] });
    expect(text.split('\n').filter((line) => !/^(?:#|$)/.test(line))).toEqual([]);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});

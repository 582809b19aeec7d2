import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openIds } from '../../../src/cli/commands/installation/open-ids.ts';
import { suggestions } from '../../../src/cli/commands/installation/suggest.ts';
import { SHELLS } from '../../../src/cli/completion/scripts.ts';
import { declareSettings } from '../../../src/cli/flags/flags.ts';
import { SETTINGS, settingNames } from '../../../src/core/settings/settings.ts';
import { TASK_TYPES } from '../../../src/core/settings/task-type.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A program as ralph declares it. */
function program(): Command {
  const ralph = new Command('ralph').version('1.0.0', '-V, --version', 'print the version');
  declareSettings(ralph.command('run').description("run one task to its end: it's [quoted]"));
  declareSettings(ralph.command('resume').usage('[ID] [options]').description('go on'));
  const status = ralph.command('status').description('what runs').argument('[id]', 'the task');
  status.option('--vault <DIR>', 'the folder').option('--json', 'as JSON');
  ralph.command('tell').description('a hint').argument('<id>').argument('<hint>');
  const shells = new Argument('<shell>').choices(SHELLS);
  ralph.command('completion').description('shell completion').addArgument(shells);
  ralph.command('trust').description('trust a file').argument('[file]').option('--revoke', 'back');
  return ralph;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

const suggested = (...words: readonly string[]): readonly string[] =>
  suggestions(program(), ['ralph', ...words]).map((line) => line.replace(/\t.*/s, ''));

describe('what is completed', () => {
  test('is every command, with its description', () => {
    const names = ['run', 'resume', 'status', 'tell', 'completion', 'trust', 'help'];
    expect(suggested('')).toEqual([...names, '--help', '--version']);
    expect(suggestions(program(), ['ralph', 'ru'])[0]).toBe(
      "run\trun one task to its end: it's [quoted]",
    );
    expect(suggested('nonsense', '--')).toEqual([]);
    expect(suggested('help', '')).toEqual(names.slice(0, -1));
  });

  test.for(settingNames())('is the flag of %s, with the choices of the table', (name) => {
    const { flag, short, aliases = [], negation, type } = SETTINGS[name];
    const flags = suggested('run', '-');
    expect(flags).toEqual(expect.arrayContaining(short === undefined ? [flag] : [flag, short]));
    for (const other of [...aliases, negation]) expect(flags).not.toContain(other);
    if (type.kind === 'choice') {
      expect(suggested('run', flag, '')).toEqual(type.choices);
      const [first = ''] = type.choices;
      expect(suggested('run', `${flag}=`)[0]).toBe(`${flag}=${first}`);
      // As bash cuts the word.
      expect(suggested('run', flag, '=', '')).toEqual(type.choices);
      for (const alias of aliases) expect(suggested('run', alias, '')).toEqual(type.choices);
    }
  });

  test.for([
    [['run', '--task-type', 'cod'], Object.keys(TASK_TYPES)],
    [['run', '--vault', 'a'], [':folders']],
    [['run', '--vault=a'], [':folders']],
    [['run', '--prompt-file', 'a'], [':files']],
    [['run', '--prompt', 'a'], []],
    [['run', '--', '--age'], [':files']],
    [['trust', 'a'], [':files']],
    [
      ['trust', '--rev'],
      ['--revoke', '-h', '--help'],
    ],
    [['completion', 'z'], SHELLS],
    [['completion', 'zsh', ''], []],
  ] as const)('after %j is %j', ([words, expected]) => {
    expect(suggested(...words).toSorted()).toEqual(expected.toSorted());
  });

  test('is an id where a command takes one', async () => {
    const vault = await vaultWith(['nightly']);
    vi.stubEnv('RALPH_VAULT', vault);
    for (const name of ['resume', 'status', 'tell']) {
      expect(suggested(name, 'nigh')).toEqual(['nightly']);
    }
    expect(suggested('status', '--json', 'nigh')).toEqual(['nightly']);
    expect(suggested('status', '--vault', vault, 'nigh')).toEqual(['nightly']);
    expect(suggested('status', '--vault', '=', vault, 'nigh')).toEqual(['nightly']);
    expect(suggested('status', '--vault', join(vault, 'none'), '')).toEqual([]);
    expect(suggested('tell', 'nightly', 'nigh')).toEqual([]);
  });
});

async function vaultWith(ids: readonly string[]): Promise<string> {
  const vault = await tempFolder();
  await mkdir(join(vault, '.ralph_state'));
  for (const id of ids) await writeFile(join(vault, '.ralph_state', `${id}.json`), '{}');
  return vault;
}

describe('ids', () => {
  const ids = (...words: readonly string[]): string => openIds(words).join(' ');

  test('are those of the vault that the unfinished line names', async () => {
    const vault = await vaultWith(['b', 'a.1']);
    await writeFile(join(vault, '.ralph_state', 'events.jsonl'), '');
    await writeFile(join(vault, '.ralph_state', '-x;y.json'), '');
    expect(ids('ralph', 'status', '--vault', vault, '')).toBe('a.1 b');
    expect(ids('ralph', 'status', `--vault=${vault}`)).toBe('a.1 b');
    expect(ids('ralph', 'status', '--vault', '=', vault, '')).toBe('a.1 b');
    expect(ids('ralph', 'status', '--vault', `"${vault}"`)).toBe('a.1 b');
    expect(ids('ralph', 'status', '--state-dir', join(vault, '.ralph_state'))).toBe('a.1 b');
  });

  test('are those of the variable, and ~ means the home folder', async () => {
    const vault = await vaultWith(['mine']);
    vi.stubEnv('RALPH_VAULT', vault);
    expect(ids('ralph', 'status', '')).toBe('mine');
    vi.stubEnv('RALPH_VAULT', undefined);
    vi.stubEnv('HOME', vault);
    expect(ids('ralph', 'status', '--vault', '~')).toBe('mine');
  });

  test('are empty if there is no folder, or no value yet', async () => {
    const folder = await tempFolder();
    expect(ids('ralph', 'status', '--vault', join(folder, 'none'))).toBe('');
    vi.stubEnv('RALPH_VAULT', folder);
    expect(ids('ralph', 'status', '--vault')).toBe('');
  });
});

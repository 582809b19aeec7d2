import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { completeIds } from '../../../src/cli/commands/installation/complete-ids.ts';
import { completion } from '../../../src/cli/commands/installation/completion.ts';
import { completionModel } from '../../../src/cli/completion/model.ts';
import { IDS_COMMAND, SHELLS, type Shell } from '../../../src/cli/completion/names.ts';
import { declareSettings } from '../../../src/cli/flags/flags.ts';
import { SETTINGS, settingNames } from '../../../src/core/settings/settings.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
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
  ralph.command(IDS_COMMAND, { hidden: true });
  return ralph;
}

let printed = '';
beforeEach(() => {
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function scriptFor(shell: Shell): string {
  expect(completion(shell, program())).toBe(0);
  return printed;
}

describe('what is completed', () => {
  const commands = completionModel(program());
  const run = commands.find(({ name }) => name === 'run');

  test('is every command but the hidden one', () => {
    const names = commands.map(({ name }) => name);
    expect(names).toEqual(['run', 'resume', 'status', 'tell', 'completion', 'trust', 'help']);
  });

  test.for(settingNames())('is the flag of %s, with the choices of the table', (name) => {
    const { flag, short, aliases = [], type } = SETTINGS[name];
    const found = run?.flags.find(({ names }) => names.includes(flag));
    expect(found?.names).toEqual(short === undefined ? [flag] : [flag, short]);
    if (type.kind === 'choice') {
      expect(found?.value).toEqual({ kind: 'choices', choices: type.choices });
    }
    for (const alias of aliases) {
      expect(run?.flags.find(({ names }) => names.includes(alias))?.isHidden).toBe(true);
    }
  });

  test('is an id or a file where a command takes one, and a word where there are few', () => {
    const taking = commands.filter(({ takesId }) => takesId).map(({ name }) => name);
    expect(taking).toEqual(['resume', 'status', 'tell']);
    expect(commands.filter(({ takesFile }) => takesFile).map(({ name }) => name)).toEqual([
      'trust',
    ]);
    expect(commands.find(({ name }) => name === 'completion')?.words).toEqual(SHELLS);
  });
});

/** Folders for PATH: one with a `ralph` that knows two ids and notes what it was asked. */
async function fakeRalph(): Promise<{ readonly home: string; readonly bin: string }> {
  const home = await tempFolder();
  const bin = join(home, 'bin');
  await mkdir(bin);
  await mkdir(join(home, 'a folder'));
  await writeFile(join(home, 'a file'), '');
  const asked = join(home, 'questions');
  const script = `#!/bin/sh\necho "$@" >> '${asked}'\necho nightly-1\necho nightly-2\necho other\n`;
  await writeFile(join(bin, 'ralph'), script);
  await chmod(join(bin, 'ralph'), 0o755);
  return { home, bin };
}

const has = (shell: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).status === 0;

/** A note in place of a test that this machine cannot carry out. */
const unlessMissing = (shell: string) => (has(shell) ? test : test.skip);

const title = (shell: string): string =>
  has(shell) ? 'completes what has been typed' : `is not tried: no ${shell} here`;

/** What is typed, and what is offered; `…` stands for the rest of a long list. */
const typed: readonly (readonly [string, readonly string[]])[] = [
  ['ralph ru', ['run']],
  ['ralph status nigh', ['nightly-1', 'nightly-2']],
  ['ralph status --vault /x oth', ['other']],
  ['ralph resume oth', ['other']],
  ['ralph tell oth', ['other']],
  ['ralph run --agent', ['--agent', '--agent-bin', '--agent-command']],
  ['ralph run --agent cl', ['claude']],
  ['ralph run --session=f', ['fresh']],
  ['ralph run --match t', ['tag']],
  ['ralph run --task-type cod', ['coding']],
  ['ralph status --js', ['--json']],
  ['ralph completion z', ['zsh']],
];

describe('bash', () => {
  unlessMissing('bash')(title('bash'), async () => {
    const { home, bin } = await fakeRalph();
    const script = scriptFor('bash');
    const complete = (line: string): readonly string[] => {
      // As bash cuts words: "=" is one of its own.
      const words = line.split(/ |(?<==)|(?==)/);
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const program = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _ralph; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home };
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-u', '-c', program], {
        env,
        cwd: home,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout.split('\n').filter((word) => word !== '');
    };
    for (const [line, offered] of typed) expect([line, complete(line)]).toEqual([line, offered]);
    const questions = await readFile(join(home, 'questions'), 'utf8');
    expect(questions).toContain(`${IDS_COMMAND} ralph status --vault /x oth\n`);
    expect(complete('ralph run --vault a')).toEqual(['a folder']);
    expect(complete('ralph run --prompt-file a').toSorted()).toEqual(['a file', 'a folder']);
    expect(complete('ralph trust a').toSorted()).toEqual(['a file', 'a folder']);
    expect(complete('ralph trust --rev')).toEqual(['--revoke']);
    expect(complete('ralph run -- --age')).toEqual([]);
    expect(complete('ralph run --prompt nigh')).toEqual([]);
    expect(complete('ralph tell other nigh')).toEqual([]);
    expect(complete('ralph nonsense --')).toEqual([]);
    expect(complete('ralph ')).toEqual(expect.arrayContaining(['run', 'status', '--help']));
  });
});

describe('zsh', () => {
  unlessMissing('zsh')(title('zsh'), async () => {
    const { home, bin } = await fakeRalph();
    await writeFile(join(home, 'script'), scriptFor('zsh'));
    // A terminal of its own, in which the line is shown once it has been completed.
    const driver = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "PROMPT= RPROMPT=; cd ${home}; PATH=${bin}:/usr/bin:/bin; autoload -Uz compinit; compinit -D -u; source ${home}/script"
      zpty -w shell "show() { print -r -- \\"<\\$BUFFER>\\"; BUFFER= }; zle -N show; bindkey '^X' show; bindkey '^I' complete-word; setopt no_beep no_auto_list; print re''ady"
      zpty -r shell out '*ready*'
      for line in "$@"; do
        zpty -w -n shell "$line"$'\\t\\x18'
        zpty -r shell out '*>*'
        print -r -- "\${out##*<}"
      done`;
    const lines: readonly (readonly [string, string])[] = [
      ['ralph ru', 'ralph run '],
      ['ralph run --agent-c', 'ralph run --agent-command='],
      ['ralph run --session f', 'ralph run --session fresh '],
      ['ralph run --match=t', 'ralph run --match=tag '],
      ['ralph status oth', 'ralph status other '],
      ['ralph resume oth', 'ralph resume other '],
      ['ralph status --js', 'ralph status --json '],
      ['ralph completion z', 'ralph completion zsh '],
      ['ralph run --vault a', 'ralph run --vault a\\ folder/'],
    ];
    const { stdout, stderr } = spawnSync(
      'zsh',
      ['-f', '-c', driver, 'driver', ...lines.map(([line]) => line)],
      {
        env: { PATH: process.env.PATH ?? '', HOME: home, TERM: 'dumb' },
        encoding: 'utf8',
        timeout: PATIENCE_MS,
      },
    );
    expect(stderr).toBe('');
    const shown = [...stdout.matchAll(/^(.*?)>/gm)].map(([, line = '']) => line);
    expect(shown.map((line) => line.trimEnd())).toEqual(lines.map(([, line]) => line.trimEnd()));
  });
});

describe('fish', () => {
  unlessMissing('fish')(title('fish'), async () => {
    const { home, bin } = await fakeRalph();
    await writeFile(join(home, 'script'), scriptFor('fish'));
    for (const [line, offered] of typed) {
      const program = `source '${home}/script'; complete -C '${line}'`;
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home };
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', program], {
        env,
        cwd: home,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      const words = stdout.split('\n').flatMap((each) => each.split('\t')[0] || []);
      // Fish offers the whole word of "--session=f".
      expect([line, words.map((word) => word.replace(/^--\w+=/, '')).toSorted()]).toEqual([
        line,
        [...offered],
      ]);
    }
  });
});

describe('ids', () => {
  async function vaultWith(ids: readonly string[]): Promise<string> {
    const vault = await tempFolder();
    await mkdir(join(vault, '.ralph_state'));
    for (const id of ids) await writeFile(join(vault, '.ralph_state', `${id}.json`), '{}');
    return vault;
  }

  const ids = (...words: readonly string[]): string => completeIds(words);

  test('are those of the vault that the unfinished line names', async () => {
    const vault = await vaultWith(['b', 'a.1']);
    await writeFile(join(vault, '.ralph_state', 'events.jsonl'), '');
    await writeFile(join(vault, '.ralph_state', '-x;y.json'), '');
    expect(ids('ralph', 'status', '--vault', vault, '')).toBe('a.1\nb\n');
    expect(ids('ralph', 'status', `--vault=${vault}`)).toBe('a.1\nb\n');
    expect(ids('ralph', 'status', '--vault', '=', vault, '')).toBe('a.1\nb\n');
    expect(ids('ralph', 'status', '--vault', `"${vault}"`)).toBe('a.1\nb\n');
    expect(ids('ralph', 'status', '--state-dir', join(vault, '.ralph_state'))).toBe('a.1\nb\n');
  });

  test('are those of the variable, and ~ means the home folder', async () => {
    const vault = await vaultWith(['mine']);
    vi.stubEnv('RALPH_VAULT', vault);
    expect(ids('ralph', 'status', '')).toBe('mine\n');
    vi.stubEnv('RALPH_VAULT', undefined);
    vi.stubEnv('HOME', vault);
    expect(ids('ralph', 'status', '--vault', '~')).toBe('mine\n');
  });

  test('are empty if there is no folder, or no value yet', async () => {
    const folder = await tempFolder();
    expect(ids('ralph', 'status', '--vault', join(folder, 'none'))).toBe('');
    vi.stubEnv('RALPH_VAULT', folder);
    expect(ids('ralph', 'status', '--vault')).toBe('');
  });
});

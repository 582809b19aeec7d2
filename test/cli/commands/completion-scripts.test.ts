import { spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { AGENT_NAMES } from '../../../src/core/agent/agents/agents.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { runRalph } from '../../helpers/run-ralph.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const RALPH = fileURLToPath(new URL('../../../bin/ralph.js', import.meta.url));

/** A vault with three open tasks, a file and a folder, and a PATH on which `ralph` is the built one. */
async function scene() {
  const home = await tempFolder();
  await mkdir(join(home, '.ralph_state'));
  for (const id of ['nightly-1', 'nightly-2', 'other']) {
    await writeFile(join(home, '.ralph_state', `${id}.json`), '{}');
  }
  await mkdir(join(home, 'a folder'));
  await writeFile(join(home, 'a file'), '');
  await writeFile(join(home, 'a folder', 'plan'), '');
  const bin = await tempFolder();
  await symlink(RALPH, join(bin, 'ralph'));
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const scriptOf = async (shell: string): Promise<string> => {
    const { stdout } = await runRalph(['completion', shell]);
    const file = join(home, `${shell}-script`);
    await writeFile(file, stdout);
    return file;
  };
  return { home, path, scriptOf };
}

const has = (shell: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).status === 0;

/** A note in place of a test that this machine cannot carry out. */
const unlessMissing = (shell: string) => (has(shell) ? test : test.skip);

const title = (shell: string): string =>
  has(shell) ? 'completes what has been typed' : `is not tried: no ${shell} here`;

/** What is typed, and what is offered. */
const typed: readonly (readonly [string, readonly string[]])[] = [
  ['ralph ru', ['run']],
  ['ralph status --vault . nigh', ['nightly-1', 'nightly-2']],
  ['ralph resume oth', ['other']],
  ['ralph run --agent', ['--agent', '--agent-bin', '--agent-command']],
  ['ralph run --session=f', ['fresh']],
  ['ralph run --task-type cod', ['coding']],
  ['ralph completion z', ['zsh']],
];

describe('bash', () => {
  unlessMissing('bash')(title('bash'), async () => {
    const { home, path, scriptOf } = await scene();
    const script = await scriptOf('bash');
    const complete = (line: string): readonly string[] => {
      // As bash cuts words: "=" is one of its own.
      const words = line.split(/ |(?<==)|(?==)/);
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const program = `source ${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _ralph; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-u', '-c', program], {
        env: { PATH: path, HOME: home },
        cwd: home,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout.split('\n').filter((word) => word !== '');
    };
    for (const [line, offered] of typed) expect([line, complete(line)]).toEqual([line, offered]);
    expect(complete('ralph run --vault a')).toEqual(['a folder']);
    expect(complete('ralph run --prompt-file=a').toSorted()).toEqual(['a file', 'a folder']);
    expect(complete('ralph run --agent=')).toEqual(AGENT_NAMES);
    expect(complete('ralph run -- --age')).toEqual([]);
    expect(complete('ralph nonsense --')).toEqual([]);
    const { stdout: help } = await runRalph(['--help']);
    const list = help.split(/^Examples:$/m)[0] ?? '';
    const commands = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
    expect(complete('ralph ').toSorted()).toEqual([...commands, '--help', '--version'].toSorted());
    expect(help).not.toContain('__');
  });
});

describe('zsh', () => {
  unlessMissing('zsh')(title('zsh'), async () => {
    const { home, path, scriptOf } = await scene();
    const script = await scriptOf('zsh');
    // A terminal of its own, in which the line is shown once it has been completed.
    const driver = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "PROMPT= RPROMPT=; cd ${home}; PATH=${path}; autoload -Uz compinit; compinit -D -u; source ${script}"
      zpty -w shell "show() { print -r -- \\"<\\$BUFFER>\\"; BUFFER= }; zle -N show; bindkey '^X' show; bindkey '^I' complete-word; setopt no_beep no_auto_list; print re''ady"
      zpty -r shell out '*ready*'
      for line in "$@"; do
        zpty -w -n shell "$line"$'\\t\\x18'
        zpty -r shell out '*>*'
        print -r -- "\${out##*<}"
      done`;
    const lines: readonly (readonly [string, string])[] = [
      ['ralph ru', 'ralph run '],
      ['ralph run --agent-c', 'ralph run --agent-command '],
      ['ralph run --session f', 'ralph run --session fresh '],
      ['ralph run --match=t', 'ralph run --match=tag '],
      ['ralph status oth', 'ralph status other '],
      ['ralph completion z', 'ralph completion zsh '],
      ['ralph run --vault a', 'ralph run --vault a\\ folder/'],
      ['ralph run --vault=a', 'ralph run --vault=a\\ folder/'],
      ['ralph trust a\\ fi', 'ralph trust a\\ file '],
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
    const { home, path, scriptOf } = await scene();
    const script = await scriptOf('fish');
    const lines: typeof typed = [
      ...typed,
      ['ralph run --vault a', ['a folder/']],
      ['ralph run --vault=a', ['a folder/']],
      ['ralph run --prompt-file a', ['a file', 'a folder/']],
      ['ralph run --prompt-file a\\ folder/', ['a folder/plan']],
      ['ralph run --prompt-file "a folder/', ['a folder/plan']],
      ['ralph trust ~/a\\ fi', ['~/a file']],
    ];
    for (const [line, offered] of lines) {
      const program = `source '${script}'; complete -C '${line}'`;
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', program], {
        env: { PATH: path, HOME: home },
        cwd: home,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      const words = stdout.split('\n').flatMap((each) => each.split('\t')[0] || []);
      // Fish offers the whole word of "--session=f".
      expect([line, words.map((word) => word.replace(/^--[\w-]+=/, '')).toSorted()]).toEqual([
        line,
        [...offered],
      ]);
    }
  });
});

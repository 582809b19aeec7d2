import { commandsIn } from '../agent/shell-commands.ts';
import { shellWords } from '../settings/shell-words.ts';
import {
  BUILTINS,
  FOLDER_OPTIONS,
  INTERPRETERS,
  KEYWORDS,
  LOOKERS,
  SETTINGS_FILE,
  SETTINGS_OPTION,
  TASK_FILE_OPTION,
  TASK_PROGRAMS,
  type TaskTool,
  WRAPPERS,
} from './command-words.ts';
import { noteValues, type Values, withValues } from './shell-values.ts';

/** What a shell command runs, as far as its words show. */
export interface CommandRun {
  /** Files as they are named, also with the endings that an interpreter would add. */
  readonly files: readonly string[];
  /** Programs that are looked for on PATH. */
  readonly programs: readonly string[];
  /** Words that may name scripts of a `package.json`. */
  readonly words: readonly string[];
  /** Folders in which the command works, as its words say. */
  readonly folders: readonly string[];
  /** Calls of programs that run the recipes of a task file, as make does with a Makefile. */
  readonly tasks: readonly TaskCall[];
  /** Words that hide what runs, such as `$D/check.sh`. */
  readonly hidden: readonly string[];
}

/** A call such as `make -f build/rules test`. */
export interface TaskCall {
  readonly tool: TaskTool;
  /** The task files that the call names; if it names none, the program uses the one in its folder. */
  readonly files: readonly string[];
  /** Words that may name recipes. */
  readonly words: readonly string[];
}

/** Limits that no ordinary command reaches: the length of a line, nested commands, programs that start each other. */
const LONGEST_LINE = 4000;
const DEEPEST = 8;
const MOST_WRAPPERS = 20;

/**
 * Returns what a shell command runs: paths that are the first word of a command, and files that an interpreter is
 * given. Replaces `$PWD`, variables that the command sets, and variables of its loops. Reads at most 4,000 code units.
 */
export function runOf(line: string): CommandRun {
  return readLine(line, new Map());
}

/** Returns what each line of a script runs. A variable that one line sets is known in the following lines. */
export function runsOf(lines: readonly string[]): readonly CommandRun[] {
  const values = new Map<string, readonly string[]>();
  return lines.map((line) => readLine(line, values));
}

function readLine(line: string, values: Collected['values']): CommandRun {
  const run: Collected = {
    ...{ files: [], programs: [], words: [], folders: [], tasks: [], hidden: [] },
    values,
  };
  addLine(run, line.slice(0, LONGEST_LINE), 0);
  const { files, programs, words, folders, tasks, hidden } = run;
  return {
    files: [...new Set(files)],
    programs: [...new Set(programs)],
    words: [...new Set(words)],
    folders: [...new Set(folders)],
    tasks,
    hidden: [...new Set(hidden)],
  };
}

interface Collected {
  readonly files: string[];
  readonly programs: string[];
  readonly words: string[];
  readonly folders: string[];
  readonly tasks: TaskCall[];
  readonly hidden: string[];
  readonly values: Values;
}

function addLine(run: Collected, line: string, depth: number): void {
  if (depth > DEEPEST) return;
  // A line that only a shell could parse is split roughly, since too many commands are better than
  // none.
  const commands = commandsIn(line) ?? line.split(/&&|\|\||[;|&\n()]/);
  for (const command of commands) {
    const words = shellWords(command) ?? command.split(/\s+/).filter((word) => word !== '');
    noteValues(run.values, words);
    for (const each of withValues(words, run.values)) addCommand(run, each, depth);
  }
}

function addCommand(run: Collected, words: readonly string[], depth: number): void {
  const { plain, input } = withoutRedirections(words);
  addFolders(run, plain);
  addSettingsFiles(run, plain);
  let rest: readonly string[] = plain;
  for (let wrappers = 0; wrappers <= MOST_WRAPPERS; ) {
    const [first, ...more] = rest;
    if (first === undefined) return;
    // Every Node.js program loads what NODE_OPTIONS names.
    const [, options] = /^NODE_OPTIONS=(.*)$/.exec(first) ?? [];
    if (options !== undefined) addWhatItRuns(run, 'node', options.split(/\s+/), null, depth);
    if (KEYWORDS.has(first) || /^\w+\+?=/.test(first) || (first.startsWith('-') && rest !== plain))
      rest = more;
    else {
      addProgram(run, first);
      const inner = wrapped(first, more);
      if (takesText(first)) addTextOfOption(run, more, depth);
      if (inner === null) {
        addWhatItRuns(run, first, more, input, depth);
        addWords(run, first, more, depth);
        return;
      }
      rest = inner;
      wrappers += 1;
    }
  }
}

/** Removes redirections. `input` is the file from which standard input comes; null if none. */
function withoutRedirections(words: readonly string[]): { plain: string[]; input: string | null } {
  const plain: string[] = [];
  let input: string | null = null;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, sign, target] = /^\d*(>>|>\||<>|<&|>&|&>>|&>|<|>)(.*)$/.exec(word) ?? [];
    if (sign === undefined) plain.push(word);
    else {
      const file = target === '' ? words[at + 1] : target;
      if (target === '') at += 1;
      if (sign === '<') input = file ?? null;
    }
  }
  return { plain, input };
}

function addFolders(run: Collected, words: readonly string[]): void {
  const [first, second] = words;
  if ((first === 'cd' || first === 'pushd') && second !== undefined) addFolder(run, second);
  for (const [at, word] of words.entries()) {
    const [, option, value] = /^(--?\w+)=(.+)$/.exec(word) ?? [];
    if (FOLDER_OPTIONS.test(word)) addFolder(run, words[at + 1] ?? '.');
    else if (option !== undefined && FOLDER_OPTIONS.test(option)) addFolder(run, value ?? '.');
  }
}

/** Adds settings files such as in `--env-file=.env` or `-c lint/rules.json`, unless the program only looks at files. */
function addSettingsFiles(run: Collected, words: readonly string[]): void {
  if (LOOKERS.has(nameOf(words[0] ?? ''))) return;
  for (const [at, word] of words.entries()) {
    const [, option = word, value = words[at + 1]] = /^(--[\w-]+)=(.+)$/.exec(word) ?? [];
    if (value !== undefined && SETTINGS_OPTION.test(option) && SETTINGS_FILE.test(value))
      addFile(run, value);
  }
}

function addFolder(run: Collected, folder: string): void {
  const known = withoutVariables(folder);
  if (known !== null) run.folders.push(known);
}

function nameOf(program: string): string {
  return program
    .slice(program.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:python|pypy)[\d.]*$/, 'python');
}

/** Matches script files without a slash, as in `uv run check.py` and `coverage run check.py`. */
const SCRIPT_FILE = /^[^/]+\.(?:py|sh|rb|[cm]?[jt]s)$/;

function addProgram(run: Collected, word: string): void {
  if (word.includes('/')) addFile(run, word);
  else if (SCRIPT_FILE.test(word)) addFile(run, word);
  else if (/^[\w.+-]+$/.test(word)) {
    if (!BUILTINS.has(word)) run.programs.push(word);
  } else if (/^\$\{?\w+\}?$/.test(word)) run.hidden.push(word);
}

function addFile(run: Collected, word: string, endings: readonly string[] = []): void {
  const path = withoutVariables(word);
  if (path === null && HIDES.test(word)) run.hidden.push(word);
  if (path === null || path.endsWith('/')) return;
  run.files.push(path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.includes('.') && !/^\.+$/.test(name)) return;
  run.files.push(...endings.map((ending) => `${path}${ending}`));
}

/** Matches a path with a variable, a pattern or braces that is not an option or a program text. */
const HIDES = /^(?!-)[^\s`(]*(?:[$*?]|\{[^\s`(}]*,)[^\s`(]*$/;

/** Returns a path with `.` for a leading `$PWD`; null if a shell would change the path. */
function withoutVariables(word: string): string | null {
  const path = word.replace(/^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)(?=\/|$)/, '.');
  return /[$`*?~()]|^-|\{[^}]*,/.test(path) || path === '' ? null : path;
}

/** Returns the words of the command that a program starts; null if it starts no other program. */
function wrapped(program: string, words: readonly string[]): readonly string[] | null {
  const wrapper = WRAPPERS.get(nameOf(program));
  if (wrapper === undefined) return null;
  const { values = [], words: before = 0, after } = wrapper;
  let left = before;
  let isOpen = after === undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (values.includes(word)) at += 1;
    else if (word.startsWith('-')) continue;
    else if (!isOpen) {
      if (after?.includes(word) !== true) return null;
      isOpen = true;
    } else if (left > 0) left -= 1;
    else return words.slice(at);
  }
  return null;
}

function addWhatItRuns(
  run: Collected,
  program: string,
  words: readonly string[],
  input: string | null,
  depth: number,
): void {
  const name = nameOf(program);
  if (name === 'eval') addLine(run, words.join(' '), depth + 1);
  addTaskCall(run, name, words);
  const interpreter = INTERPRETERS.get(name);
  if (interpreter === undefined) return;
  const { values = [], files = [], without = [], after = [], endings } = interpreter;
  const { isShell = false, hasModules = false } = interpreter;
  let givesText = false;
  let isGiven = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, option, value] = /^(--[\w-]+)=(.*)$/.exec(word) ?? [];
    const [, module] = (hasModules && !isGiven && /^-m(.*)$/.exec(word)) || [];
    if (files.includes(option ?? word)) {
      const file = value ?? words[at + 1] ?? '';
      if (value === undefined) at += 1;
      // A name without a slash is a package and not a file.
      if (file.includes('/')) addFile(run, file, endings);
    } else if (module !== undefined) {
      addModule(run, module === '' ? (words[at + 1] ?? '') : module);
      return;
    } else if (without.includes(option ?? word)) isGiven = true;
    else if (isShell && /^[-+][a-zA-Z]*[oO]$/.test(word)) {
      givesText ||= word.includes('c');
      at += 1;
    } else if (values.includes(word)) at += 1;
    else if (isShell && /^-[a-zA-Z]+$/.test(word)) givesText ||= word.includes('c');
    else if (isGiven || /^[-+]./.test(word) || after.includes(word)) continue;
    else {
      if (givesText) addLine(run, word, depth + 1);
      else addFile(run, word, endings);
      return;
    }
  }
  if (input !== null && !isGiven) addFile(run, input);
  // The shell runs what comes through the pipe, which cannot be known here.
  else if (isShell && !givesText && words.every((word) => word === '-s' || word === '-'))
    run.hidden.push(program);
}

function takesText(program: string): boolean {
  return /^(?:npx|npm|env)$/.test(nameOf(program));
}

/** Adds the commands in `npx -c 'command'`, `npm exec -c 'command'` and `env -S 'command'`. */
function addTextOfOption(run: Collected, words: readonly string[], depth: number): void {
  for (const [at, word] of words.entries()) {
    const [, value] = /^--(?:call|split-string)=(.*)$/.exec(word) ?? [];
    if (value !== undefined) addLine(run, value, depth + 1);
    else if (/^(?:-c|--call|-S|--split-string)$/.test(word))
      addLine(run, words[at + 1] ?? '', depth + 1);
  }
}

/** Adds a call such as `make -f FILE test`. If it names no file, the task file is later found by its usual name. */
function addTaskCall(run: Collected, program: string, words: readonly string[]): void {
  const tool = TASK_PROGRAMS.get(program);
  if (tool === undefined || (tool === 'deno' && words[0] !== 'task')) return;
  const named = words.flatMap((word, at) => {
    const [, joint] =
      /^(?:--(?:file|makefile|justfile|taskfile|noxfile|conf)=|-f(?=.))(.*)$/.exec(word) ?? [];
    if (joint !== undefined) return [joint];
    return TASK_FILE_OPTION.test(word) && !(word === '-t' && tool !== 'task')
      ? [words[at + 1] ?? '']
      : [];
  });
  for (const file of named) addFile(run, file);
  const files = named.flatMap((file) => withoutVariables(file) ?? []);
  run.tasks.push({ tool, files, words: words.filter((word) => !files.includes(word)) });
}

/** Adds the files that `python -m a.b` runs if the work tree has a module of that name. */
function addModule(run: Collected, module: string): void {
  if (!/^[\w.]+$/.test(module)) return;
  addTaskCall(run, module, []);
  const path = module.replaceAll('.', '/');
  run.files.push(`${path}.py`, `${path}/__main__.py`);
}

/** Adds the words of a program that may name scripts. A word of `concurrently` with a space in it is a command. */
function addWords(run: Collected, program: string, words: readonly string[], depth: number): void {
  const name = nameOf(program);
  if (LOOKERS.has(name) || BUILTINS.has(name)) return;
  run.words.push(...words);
  if (name !== 'concurrently') return;
  for (const word of words) if (/\s/.test(word)) addLine(run, word, depth + 1);
}

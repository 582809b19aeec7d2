// Every command that ralph prints is built here, so that a person who copies it can run it where it was printed.

/** Where a command finds a task. */
export interface TaskPlace {
  readonly taskId: string;
  readonly vault: string;
  readonly stateDir: string;
  /** Absolute path of the key file that the command has to name, or null if ralph finds the key by itself. */
  readonly keyFlag: string | null;
  /** For a task in a database shared by machines (a fleet): the words that name it, in place of the folders. */
  readonly fleetWords?: readonly string[];
}

type Folders = Omit<TaskPlace, 'taskId'>;

/** How and where ralph was started. */
interface Start {
  /** The words with which a shell starts this installation of ralph: `npx ralph`. */
  readonly program: string;
  readonly folder: string;
}

/** Returns whether a command without flags, typed where ralph was started, uses these folders. */
type Finds = (folders: Pick<Folders, 'vault' | 'stateDir'>) => boolean;

interface Known {
  /** Null in a program that uses ralph as a library: then printed commands name all folders. */
  start: Start | null;
  /** The folders that the running command uses; null if it uses none. */
  current: Folders | null;
  finds: Finds;
}

/** Each script of the built package has its own copy of this module, so all copies share the data on `globalThis`. */
const KEY = Symbol.for('ralph-headless.printed-command');

function known(): Known {
  const shared: { [key: symbol]: Known | undefined } = globalThis;
  const kept = shared[KEY] ?? { start: null, current: null, finds: () => false };
  shared[KEY] = kept;
  return kept;
}

/** Records how ralph was started, for all commands that are printed from now on. */
export function startedBy(start: Start | null): void {
  known().start = start;
}

/** Records which folders the running command uses, and how to tell whether a command without flags would use them. */
export function worksOn(folders: Folders, finds: Finds = () => false): void {
  Object.assign(known(), { current: folders, finds });
}

/** Returns a shell command that starts ralph. The caller has already quoted the words. */
export function ralphCommand(...words: readonly string[]): string {
  return [known().start?.program ?? 'ralph', ...words].join(' ');
}

/** Returns the shell command that does something with a task, with the flags that name the task's folders. */
export function taskCommand(
  command: string,
  { taskId, ...folders }: TaskPlace,
  words: readonly string[] = [],
): string {
  return ralphCommand(command, shellQuote(taskId), ...words, ...flagsOf(folders));
}

/** Returns the shell command that does something with a task in the folders that the running command uses. */
export function commandHere(
  command: string,
  taskId: string,
  words: readonly string[] = [],
): string {
  const { start, current } = known();
  const flags = start === null || current === null ? [] : flagsOf(current);
  return ralphCommand(command, shellQuote(taskId), ...words, ...flags);
}

/** Returns the place of a task in the fleet that `fleetWords` name. */
export function placeInFleet(taskId: string, fleetWords: readonly string[]): TaskPlace {
  return { taskId, vault: '', stateDir: '', keyFlag: null, fleetWords };
}

/** Returns a command that works from any folder: it first changes to the folder in which ralph was started. */
export function fromItsFolder(command: string): string {
  const { start } = known();
  return start === null ? command : `cd ${shellQuote(start.folder)} && ${command}`;
}

/** Splits a line into its text and the command at its end, which must not be wrapped; null if it has no command. */
export function atCommand(line: string): readonly [before: string, command: string] | null {
  const from = line.lastIndexOf(`: ${known().start?.program ?? 'ralph'} `) + 2;
  return from < 2 ? null : [line.slice(0, from), line.slice(from)];
}

function flagsOf({ vault, stateDir, keyFlag, fleetWords }: Folders): readonly string[] {
  if (fleetWords !== undefined) return fleetWords;
  const isFound = known().finds({ vault, stateDir });
  const isUsual = isFound || stateDir === `${vault}/.ralph_state`;
  return [
    ...(isFound ? [] : ['--vault', shellQuote(vault)]),
    ...(isUsual ? [] : ['--state-dir', shellQuote(stateDir)]),
    ...(keyFlag === null ? [] : ['--key-file', shellQuote(keyFlag)]),
  ];
}

/** Quotes a word for a POSIX shell. */
export function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

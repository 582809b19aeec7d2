import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { homeFolder } from './home-folder.ts';
import { realPath } from './real-path.ts';
import { distrust } from './trust/owner.ts';

/** A configuration file that may be used. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
  /** Found by looking upward, not named by the user. */
  readonly wasFound: boolean;
}

export interface ConfigSearch {
  readonly config: ConfigText | null;
  /** Files that were found and are not used, each with the reason. */
  readonly notices: readonly string[];
  readonly problems: readonly string[];
}

const NAMES = ['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'];

const NOTHING: ConfigSearch = { config: null, notices: [], problems: [] };

/** Reads the configuration file that the user named; `where` is the flag or variable that did. */
export function readNamedConfig(file: string, where: string): ConfigSearch {
  try {
    return withFile(file, (open) => textFrom(open, { file, wasFound: false }));
  } catch (error) {
    const problem = `${where} expects a file that can be read; found: ${messageOf(error)}.`;
    return { ...NOTHING, problems: [problem] };
  }
}

/**
 * Looks upward for the nearest configuration file, not past the git root or the home folder. One that
 * somebody else could have written is not used: it can name programs to run.
 */
export function findConfig(startDir: string, env: NodeJS.ProcessEnv): ConfigSearch {
  const home = homeOf(env);
  let border: string | null = null;
  for (const folder of upward(startDir)) {
    const file = NAMES.map((name) => path.join(folder, name)).find((each) => existsSync(each));
    if (file !== undefined) {
      return border === null
        ? readFoundConfig(file)
        : notUsed(file, `it lies above the ${border}; name it with --config`);
    }
    border ??= borderAt(folder, home);
  }
  return NOTHING;
}

/** Every place where a start in this folder would find a configuration, nearest first. */
export function* configPlaces(startDir: string, env: NodeJS.ProcessEnv): Generator<string> {
  const home = homeOf(env);
  for (const folder of upward(startDir)) {
    for (const name of NAMES) yield path.join(folder, name);
    if (borderAt(folder, home) !== null) return;
  }
}

/** What a search does not go past; null in every other folder. */
function borderAt(folder: string, home: string | null): string | null {
  if (existsSync(path.join(folder, '.git'))) return 'git root';
  return home !== null && realPath(folder) === home ? 'home folder' : null;
}

function homeOf(env: NodeJS.ProcessEnv): string | null {
  const home = homeFolder(env);
  return home === null ? null : realPath(home);
}

/** Reads a configuration file as one that was found is read: not if somebody else could have written it. */
export function readFoundConfig(file: string): ConfigSearch {
  try {
    // To open a pipe would wait for whoever writes into it.
    if (!statSync(file).isFile()) return notUsed(file, 'it is no regular file');
    return withFile(file, (open) => {
      const reason = distrust(fstatSync(open));
      return reason === null ? textFrom(open, { file, wasFound: true }) : notUsed(file, reason);
    });
  } catch (error) {
    return notUsed(file, `it cannot be read (${messageOf(error)})`);
  }
}

function notUsed(file: string, reason: string): ConfigSearch {
  return { ...NOTHING, notices: [`${file} is not used: ${reason}.`] };
}

/** Opened once, so that what is judged is what is read. */
function withFile(file: string, use: (open: number) => ConfigSearch): ConfigSearch {
  const open = openSync(file, 'r');
  try {
    return use(open);
  } finally {
    closeSync(open);
  }
}

/** The time to read YAML grows with the square of its size; a long prompt has a file of its own. */
const MAX_BYTES = 64 * 1024;

function textFrom(open: number, config: Omit<ConfigText, 'text'>): ConfigSearch {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(open, bytes, length, bytes.length - length, null);
    if (read === 0) break;
    length += read;
  }
  if (length > MAX_BYTES) {
    const problem = `${config.file} is larger than 64 KB; a long prompt belongs in a file of its own (prompt_file).`;
    return { ...NOTHING, problems: [problem] };
  }
  return { ...NOTHING, config: { ...config, text: bytes.toString('utf8', 0, length) } };
}

function* upward(startDir: string): Generator<string> {
  let folder = path.resolve(startDir);
  for (;;) {
    yield folder;
    const parent = path.dirname(folder);
    if (parent === folder) return;
    folder = parent;
  }
}

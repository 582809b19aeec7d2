import { closeSync, existsSync, fstatSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { readBytes } from '../files/bounded-read.ts';
import { homeFolder } from '../files/home-folder.ts';
import { realPath } from '../files/real-path.ts';
import { upward } from '../files/upward.ts';
import { distrust } from '../trust/owner.ts';

/** A configuration file and its text. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
  /** Whether the upward search found the file; false if the user named it. */
  readonly wasFound: boolean;
}

export interface ConfigSearch {
  readonly config: ConfigText | null;
  /** At most one sentence: that a file above the border of the search is not used, and why. */
  readonly notices: readonly string[];
  /** Why the file cannot be used. No run starts then, because its limits and checks would be missing. */
  readonly problems: readonly string[];
}

const NAMES = ['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'];

const NOTHING: ConfigSearch = { config: null, notices: [], problems: [] };

/** Reads the configuration file that the user named. `where` is the flag or variable with the name. */
export function readNamedConfig(file: string, where: string): ConfigSearch {
  try {
    return withFile(file, (open) => textFrom(open, { file, wasFound: false }));
  } catch (error) {
    const problem = `${where} expects a file that can be read; found: ${messageOf(error)}.`;
    return { ...NOTHING, problems: [problem] };
  }
}

/**
 * Searches this folder and those above it, up to the git root or the home folder, for the nearest configuration file. A
 * file that another user could have written is not used, because it can name programs to run.
 */
export function findConfig(startDir: string, env: NodeJS.ProcessEnv): ConfigSearch {
  const home = homeOf(env);
  let border: string | null = null;
  for (const folder of upward(path.resolve(startDir))) {
    const file = NAMES.map((name) => path.join(folder, name)).find((each) => existsSync(each));
    if (file !== undefined) {
      return border === null
        ? readFoundConfig(file)
        : {
            ...NOTHING,
            notices: [notUsed(file, `it is above the ${border}; name it with --config`)],
          };
    }
    border ??= borderAt(folder, home);
  }
  return NOTHING;
}

/** Yields every path at which a search from this folder looks for a configuration, nearest first. */
export function* configPlaces(startDir: string, env: NodeJS.ProcessEnv): Generator<string> {
  const home = homeOf(env);
  for (const folder of upward(path.resolve(startDir))) {
    for (const name of NAMES) yield path.join(folder, name);
    if (borderAt(folder, home) !== null) return;
  }
}

/** Returns why a search ends at this folder, as a noun; null if it goes on to the folder above. */
function borderAt(folder: string, home: string | null): string | null {
  if (existsSync(path.join(folder, '.git'))) return 'git root';
  return home !== null && realPath(folder) === home ? 'home folder' : null;
}

function homeOf(env: NodeJS.ProcessEnv): string | null {
  const home = homeFolder(env);
  return home === null ? null : realPath(home);
}

/** Reads a configuration file, unless another user could have written it. Never throws. */
export function readFoundConfig(file: string): ConfigSearch {
  try {
    // Checked before opening, because opening a named pipe would block.
    if (!statSync(file).isFile()) return unusable(file, 'it is not a regular file');
    return withFile(file, (open) => {
      const reason = distrust(fstatSync(open));
      return reason === null ? textFrom(open, { file, wasFound: true }) : unusable(file, reason);
    });
  } catch (error) {
    return unusable(file, `it cannot be read (${messageOf(error)})`);
  }
}

function unusable(file: string, reason: string): ConfigSearch {
  const remedy = '--config FILE names the one to use, also where chmod has no effect.';
  return { ...NOTHING, problems: [`${notUsed(file, reason)} ${remedy}`] };
}

function notUsed(file: string, reason: string): string {
  return `${file} is not used: ${reason}.`;
}

/** Opens the file once, so that `use` reads the same file that it has checked. */
function withFile(file: string, use: (open: number) => ConfigSearch): ConfigSearch {
  const open = openSync(file, 'r');
  try {
    return use(open);
  } finally {
    closeSync(open);
  }
}

/** Parsing time grows with the square of the size; a long prompt belongs in its own file. */
const MAX_BYTES = 64 * 1024;

function textFrom(open: number, config: Omit<ConfigText, 'text'>): ConfigSearch {
  const bytes = readBytes(open, MAX_BYTES + 1);
  if (bytes.length > MAX_BYTES) {
    const problem = `${config.file} is larger than 64 KB; a long prompt belongs in its own file (prompt_file).`;
    return { ...NOTHING, problems: [problem] };
  }
  return { ...NOTHING, config: { ...config, text: bytes.toString() } };
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

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

/** Reads the configuration file that the user named. */
export function readNamedConfig(file: string): ConfigSearch {
  try {
    const text = readFileSync(file, 'utf8');
    return { config: { file, text, wasFound: false }, notices: [], problems: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem = `--config expects a file that can be read; found: ${reason}.`;
    return { config: null, notices: [], problems: [problem] };
  }
}

/**
 * Looks upward for the nearest configuration file, not past the git root or the home folder. One that
 * somebody else could have written is not used: it can name programs to run.
 */
export function findConfig(startDir: string, env: NodeJS.ProcessEnv): ConfigSearch {
  const home = path.resolve(env.HOME ?? homedir());
  let border: string | null = null;
  for (const folder of upward(startDir)) {
    const file = NAMES.map((name) => path.join(folder, name)).find((each) => existsSync(each));
    if (file !== undefined) {
      const reason =
        border === null ? distrust(file) : `it lies above the ${border}; name it with --config`;
      if (reason !== null) {
        return { config: null, notices: [`${file} is not used: ${reason}.`], problems: [] };
      }
      return readFound(file);
    }
    if (border === null && existsSync(path.join(folder, '.git'))) border = 'git root';
    if (border === null && folder === home) border = 'home folder';
  }
  return { config: null, notices: [], problems: [] };
}

function readFound(file: string): ConfigSearch {
  const read = readNamedConfig(file);
  if (read.config === null) return { config: null, notices: read.problems, problems: [] };
  return { ...read, config: { ...read.config, wasFound: true } };
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

/** Why a file must not be trusted; null where only its owner, this user or root, can have written it. */
function distrust(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return 'it cannot be read';
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    return `it belongs to another user (${stats.uid})`;
  }
  if ((stats.mode & 0o002) !== 0) return 'everybody can write it; chmod o-w mends that';
  // Many systems give each user a group of his own, and write files for it by default.
  const isOwnGroup = stats.gid === process.getgid?.() && stats.gid === stats.uid;
  if ((stats.mode & 0o020) !== 0 && !isOwnGroup) {
    return 'its group can write it; chmod g-w mends that';
  }
  return null;
}

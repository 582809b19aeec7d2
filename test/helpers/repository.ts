import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

const USER = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

/** The environment of every git in a test: it knows no configuration of the machine. Nobody can make its HOME. */
export const GIT_ENV = {
  PATH: process.env.PATH,
  HOME: '/dev/null/none',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Runs git in a folder and returns what it prints. */
export function gitIn(folder: string, input?: string) {
  return (...args: string[]): string =>
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd: folder,
      env: { ...GIT_ENV, ...USER },
      encoding: 'utf8',
      input,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    }).trim();
}

export type Files = Readonly<Record<string, string>>;

/** Writes files, with the folders they need. */
export function put(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** A repository with one commit of these files. */
export async function makeRepository(files: Files = { 'a.txt': 'a\n' }) {
  const folder = await tempFolder();
  const git = gitIn(folder);
  git('init', '-q');
  put(folder, files);
  git('add', '--all');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  return { folder, git };
}

/** Every byte of the files below a folder, by name. */
export function bytesBelow(folder: string, prefix = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    const place = join(folder, entry.name);
    if (entry.isDirectory()) Object.assign(found, bytesBelow(place, `${name}/`));
    else if (entry.isFile()) found[name] = readFileSync(place, 'latin1');
  }
  return found;
}

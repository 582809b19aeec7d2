import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/*
 * Installed packages are large and not the task's work, so the exam, a checkout for the checks, has only symbolic links
 * to them. But their folders also hold links and texts that lead into the work tree. So the exam has folders of its own
 * down to where a package begins:
 *
 *   node_modules/  @scope/  .bin/  .pnpm/ID/node_modules/  ──►  one link for each package
 *   .venv/  lib/python3/site-packages/                     ──►  one link for each package, copies of the rest
 */

/** Copies a file, a symbolic link or a whole folder to a place that is free, or makes a symbolic link there. */
export type Bring = (from: string, to: string) => Promise<void>;

/** Folders in which package managers keep each package once, and to which their links lead. */
const STORES = ['.pnpm', '.store', '.bun'];

/** Whether a folder holds Node packages or is a Python environment. */
export function isInstalledFolder(folder: string): boolean {
  return path.basename(folder) === 'node_modules' || isEnvironment(folder);
}

function isEnvironment(folder: string): boolean {
  return existsSync(path.join(folder, 'pyvenv.cfg'));
}

/** Makes a copy of a folder of packages that has a link for each package. */
export function bringInstalled(from: string, to: string, bring: Bring): Promise<void> {
  return isEnvironment(from) ? environment(from, to, bring) : packages(from, to, bring);
}

async function packages(from: string, to: string, bring: Bring): Promise<void> {
  await eachIn(from, to, async (name, one, other, isFolder) => {
    if (!isFolder) await bring(one, other);
    else if (name.startsWith('@')) await packages(one, other, bring);
    else if (STORES.includes(name)) await store(one, other, bring);
    // A hidden folder here is not a package: tools write their build output and caches to it.
    else if (name.startsWith('.')) await bring(one, other);
    else symlinkSync(one, other);
  });
}

async function store(from: string, to: string, bring: Bring): Promise<void> {
  await eachIn(from, to, async (name, one, other, isFolder) => {
    if (!isFolder) await bring(one, other);
    else if (name === 'node_modules') await packages(one, other, bring);
    else {
      await eachIn(one, other, async (inner, own, its, isFolderToo) => {
        if (isFolderToo && inner === 'node_modules') await packages(own, its, bring);
        else if (isFolderToo) symlinkSync(own, its);
        else await bring(own, its);
      });
    }
  });
}

const LIBRARIES = /^(?:lib|lib64|Lib|python[\d.]+t?|pypy[\d.]+)$/;
/** Folders that are not packages: descriptions of packages, and the bytecode of single modules. */
const NO_PACKAGE = /(?:\.(?:dist|egg)-info|^__pycache__)$/;

async function environment(from: string, to: string, bring: Bring): Promise<void> {
  await eachIn(from, to, async (name, one, other, isFolder) => {
    if (!isFolder || ['bin', 'Scripts'].includes(name)) await bring(one, other);
    else if (LIBRARIES.test(name)) await environment(one, other, bring);
    else if (name === 'site-packages') await sitePackages(one, other, bring);
    else symlinkSync(one, other);
  });
}

async function sitePackages(from: string, to: string, bring: Bring): Promise<void> {
  await eachIn(from, to, async (name, one, other, isFolder) => {
    if (isFolder && !NO_PACKAGE.test(name)) symlinkSync(one, other);
    else await bring(one, other);
  });
}

async function eachIn(
  from: string,
  to: string,
  handle: (name: string, one: string, other: string, isFolder: boolean) => Promise<void>,
): Promise<void> {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [one, other] = [path.join(from, entry.name), path.join(to, entry.name)];
    await handle(entry.name, one, other, entry.isDirectory());
  }
}

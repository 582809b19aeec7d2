import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Installs a package of the system if it is missing and this is root. Resolves to whether it is there then. */
export async function installPackage(name: string, isThere: () => boolean): Promise<boolean> {
  if (!isThere() && process.getuid?.() === 0) {
    const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', name]);
    await install()
      .catch(() => run('apt-get', ['update']).then(install))
      .catch(() => {});
  }
  return isThere();
}

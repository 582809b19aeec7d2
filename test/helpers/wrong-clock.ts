import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FleetHost } from './fleet-hosts.ts';
import { installPackage } from './install-package.ts';
import { isHere } from './machine-needs.ts';

/**
 * Returns the host with a clock that is wrong by so much, such as `+1h`, for what is started there from now on. Its
 * monotonic clock is right. Resolves to the host as it is, and says so, where libfaketime cannot be installed.
 */
export async function withClock(host: FleetHost, by: string): Promise<FleetHost> {
  await installPackage('libfaketime', () => findLibrary() !== null);
  const library = findLibrary();
  if (library === null) {
    isHere('libfaketime', false);
    process.stderr.write(`No libfaketime here: the clock of ${host.name} is right.\n`);
    return host;
  }
  const wrong = { LD_PRELOAD: library, FAKETIME: by, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  return { ...host, env: { ...host.env, ...wrong } };
}

/** Debian has it in a folder for the kind of machine. */
function findLibrary(): string | null {
  const folders = readdirSync('/usr/lib').map((name) => join('/usr/lib', name));
  const files = folders.map((folder) => join(folder, 'faketime', 'libfaketime.so.1'));
  return files.find((file) => existsSync(file)) ?? null;
}

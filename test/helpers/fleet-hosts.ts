import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listProcesses } from '../../src/effects/processes/process-table.ts';
import { environmentOf } from './living-in.ts';
import { isHere } from './machine-needs.ts';

const run = promisify(execFile);

/** The address of the host with the database and the repositories; the others follow it. */
const NETWORK = '10.99.0';
/** Marks what is started on a host, where there are no namespaces. */
const MARK = 'RALPH_TEST_HOST';

/** A machine of a fleet, as far as one machine can play several. */
export interface FleetHost {
  readonly name: string;
  /** Its own home folder. */
  readonly home: string;
  /** Its address for the other hosts. */
  readonly address: string;
  /** The words before a command that run it on this host: what is started so becomes the command itself. */
  readonly under: readonly string[];
  /** Variables that a command on this host has to have. */
  readonly env: Readonly<Record<string, string>>;
  /** What runs on it. Without namespaces, the guards of ralph are not seen: their environment is empty. */
  pids(): readonly number[];
  /** Sends a signal to all that runs on it. */
  signalAll(signal: NodeJS.Signals): void;
  /** Takes its link down, or up again. Only with namespaces. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

/** Hosts that reach each other and nothing else. */
export interface FleetHosts {
  /** `namespaces`: each has its own network and host name. `processes`: they differ by name only. */
  readonly kind: 'namespaces' | 'processes';
  /** Where the database and the repositories are. */
  readonly base: FleetHost;
  readonly hosts: readonly FleetHost[];
  /** Kills what runs on them, and removes them. */
  remove(): Promise<void>;
}

/** Whether this machine can make network namespaces: as root, with iproute2 and the right to it. */
export function hasNamespaces(): boolean {
  return isHere('the right to network namespaces, or iproute2,', canMakeNamespace());
}

function canMakeNamespace(): boolean {
  if (process.getuid?.() !== 0) return false;
  const name = `rl${randomBytes(4).toString('hex')}`;
  try {
    execFileSync('ip', ['netns', 'add', name], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  } finally {
    try {
      execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
    } catch {
      // It was never made.
    }
  }
}

/**
 * Makes that many hosts and one for the database, with their homes below `folder`. Says so on standard error if they
 * are plain processes, since the tests that cut a link are left out then.
 */
export async function makeHosts(folder: string, count: number): Promise<FleetHosts> {
  const tag = `rl${randomBytes(4).toString('hex')}`;
  const names = ['base', ...Array.from({ length: count }, (_, at) => `host${at + 1}`)];
  const isolated = hasNamespaces();
  if (!isolated) {
    process.stderr.write(
      'No network namespaces here: the hosts of the fleet are plain processes.\n',
    );
  }
  const all = names.map((name, at) =>
    isolated
      ? namespaceHost(join(folder, name), { name, at, tag })
      : processHost(join(folder, name), { name, tag }),
  );
  await Promise.all(all.map(({ home }) => mkdir(home, { recursive: true })));
  const [base, ...hosts] = all;
  if (base === undefined) throw new Error('no host');
  const remove = async (): Promise<void> => {
    // A stopped process takes no other signal.
    for (const host of all) host.signalAll('SIGKILL');
    if (isolated) await removeNamespaces(names.map((name) => `${tag}-${name}`));
  };
  try {
    if (isolated) await makeNamespaces(names.map((name) => `${tag}-${name}`));
  } catch (error) {
    await remove();
    throw error;
  }
  return { kind: isolated ? 'namespaces' : 'processes', base, hosts, remove };
}

/** Makes namespaces with a bridge in the first, to which the others are linked. */
async function makeNamespaces(spaces: readonly string[]): Promise<void> {
  const [base = '', ...others] = spaces;
  await ip('netns', 'add', base);
  await ip('-n', base, 'link', 'set', 'lo', 'up');
  await ip('-n', base, 'link', 'add', 'br0', 'type', 'bridge');
  await ip('-n', base, 'addr', 'add', `${addressOf(0)}/24`, 'dev', 'br0');
  await ip('-n', base, 'link', 'set', 'br0', 'up');
  for (const [index, space] of others.entries()) {
    const [link, address] = [linkOf(index + 1), addressOf(index + 1)];
    await ip('netns', 'add', space);
    await ip('-n', space, 'link', 'set', 'lo', 'up');
    const peer = ['peer', 'name', 'eth0', 'netns', space];
    await ip('link', 'add', link, 'netns', base, 'type', 'veth', ...peer);
    await ip('-n', base, 'link', 'set', link, 'master', 'br0', 'up');
    await ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await ip('-n', space, 'link', 'set', 'eth0', 'up');
  }
}

async function removeNamespaces(spaces: readonly string[]): Promise<void> {
  for (const space of spaces) await ip('netns', 'del', space).catch(() => {});
}

async function ip(...args: readonly string[]): Promise<void> {
  await run('ip', args);
}

function addressOf(at: number): string {
  return `${NETWORK}.${at + 1}`;
}

function linkOf(at: number): string {
  return `v${at}`;
}

function namespaceHost(
  home: string,
  { name, at, tag }: { readonly name: string; readonly at: number; readonly tag: string },
): FleetHost {
  const space = `${tag}-${name}`;
  const link = (state: 'up' | 'down') => ip('-n', `${tag}-base`, 'link', 'set', linkOf(at), state);
  const pids = (): readonly number[] => {
    try {
      const found = execFileSync('ip', ['netns', 'pids', space], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return found.split('\n').filter(Boolean).map(Number);
    } catch {
      // The namespace is gone.
      return [];
    }
  };
  return {
    ...{ name, home, address: addressOf(at), env: {}, pids },
    under: [
      ...['ip', 'netns', 'exec', space],
      // Each step becomes the next one, so that the started process is the command itself.
      ...['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', name],
    ],
    signalAll: (signal) => signalAll(pids, signal),
    cut: () => link('down'),
    heal: () => link('up'),
  };
}

function processHost(
  home: string,
  { name, tag }: { readonly name: string; readonly tag: string },
): FleetHost {
  const mark = `${tag}-${name}`;
  const pids = (): readonly number[] =>
    listProcesses()
      .filter(({ pid }) => environmentOf(pid).includes(`${MARK}=${mark}`))
      .map(({ pid }) => pid);
  const linkless = async (): Promise<never> => {
    throw new Error('without namespaces there is no link to cut');
  };
  return {
    ...{ name, home, address: '127.0.0.1', under: [], env: { [MARK]: mark }, pids },
    signalAll: (signal) => signalAll(pids, signal),
    ...{ cut: linkless, heal: linkless },
  };
}

/** Signals all processes; to end them, until none is left: one of them may just have started another. */
function signalAll(pids: () => readonly number[], signal: NodeJS.Signals): void {
  const rounds = signal === 'SIGKILL' ? 20 : 1;
  for (let round = 0; round < rounds; round += 1) {
    const found = pids();
    for (const pid of found) {
      try {
        process.kill(pid, signal);
      } catch {
        // It went by itself just now.
      }
    }
    if (found.length === 0) return;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FleetHost, type FleetHosts, makeHosts } from './fleet-hosts.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { gitIn, put } from './repository.ts';

/** Hosts with a database and a server of repositories: what the fleets of a test file share. */
export interface FleetSite {
  readonly folder: string;
  readonly hosts: FleetHosts;
  readonly postgres: Postgres;
  /** Makes a repository with one commit of these files; the hosts reach it by `url`. */
  makeOrigin(files?: Readonly<Record<string, string>>): FleetOrigin;
  /** Ends all of it and removes it. */
  remove(): Promise<void>;
}

/** A bare repository that the hosts of a site reach. */
export interface FleetOrigin {
  readonly folder: string;
  readonly url: string;
  /** Runs git in it, and returns what it prints. */
  readonly git: ReturnType<typeof gitIn>;
}

/** Makes a site with that many hosts for workers. */
export async function makeFleetSite(count: number): Promise<FleetSite> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-fleet-site-'));
  const origins = join(folder, 'origins');
  mkdirSync(origins);
  const hosts = await makeHosts(join(folder, 'hosts'), count);
  let postgres: Postgres | null = null;
  const remove = async (): Promise<void> => {
    await postgres?.stop().catch(() => {});
    await hosts.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    postgres = await startPostgres(hosts.kind === 'namespaces' ? hosts.base : undefined);
    if (hosts.kind === 'namespaces') await serveRepositories(hosts.base, origins);
    let made = 0;
    const makeOrigin: FleetSite['makeOrigin'] = (files = { 'README.md': 'a\n' }) => {
      made += 1;
      return newOrigin(origins, `origin${made}`, files, hosts);
    };
    return { folder, hosts, postgres, makeOrigin, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const GIT_PORT = 9418;

async function serveRepositories(base: FleetHost, origins: string): Promise<ChildProcess> {
  const [program = '', ...words] = base.under;
  const daemon = spawn(
    program,
    [
      ...words,
      ...['git', 'daemon', '--export-all', '--enable=receive-pack', '--reuseaddr'],
      // The slots of several hosts ask at once.
      ...['--max-connections=0', `--base-path=${origins}`, `--listen=${base.address}`],
    ],
    {
      env: { PATH: process.env.PATH, HOME: base.home, GIT_CONFIG_NOSYSTEM: '1', ...base.env },
      stdio: 'ignore',
    },
  );
  await untilListening(base, GIT_PORT);
  return daemon;
}

/** Waits until a port of a host is open, as seen from there. */
async function untilListening(host: FleetHost, port: number): Promise<void> {
  const [program = '', ...words] = host.under;
  const script = `require('net').connect(${port},'${host.address}').on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))`;
  for (let tries = 1; ; tries += 1) {
    const look = spawn(program, [...words, process.execPath, '-e', script], { stdio: 'ignore' });
    const code = await new Promise((resolve) => look.once('exit', resolve));
    if (code === 0) return;
    if (tries === 50) throw new Error(`nothing listens on ${host.address}:${port}`);
    await sleep(100);
  }
}

function newOrigin(
  origins: string,
  name: string,
  files: Readonly<Record<string, string>>,
  { kind, base }: FleetHosts,
): FleetOrigin {
  const [work, folder] = [join(origins, `${name}-first`), join(origins, `${name}.git`)];
  put(work, files);
  const git = gitIn(work);
  git('init', '-q');
  git('add', '--all');
  git('commit', '-q', '-m', 'first');
  git('clone', '-q', '--bare', work, folder);
  rmSync(work, { recursive: true, force: true });
  // Collecting garbage in the background is not what the tests are about.
  gitIn(folder)('config', 'receive.autogc', 'false');
  const url = kind === 'namespaces' ? `git://${base.address}/${name}.git` : `file://${folder}`;
  return { folder, url, git: gitIn(folder) };
}

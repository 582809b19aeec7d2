import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import path from 'node:path';
import { isAtOrBelow, isWithinAny } from '../../core/sandbox/places.ts';
import {
  doesNotHold,
  NAMESPACES,
  type Namespace,
  notStarted,
  type Refusal,
  shares,
} from '../../core/sandbox/refusals.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { messageOf } from '../../errors.ts';
import { isFolder, isThere, statOf } from '../files/file-kinds.ts';
import { namesIn } from '../files/folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { tryToRemove } from '../files/write-file.ts';
import type { ConfinedCommand } from '../processes/find-program.ts';
import { killGroup } from '../processes/kill-group.ts';
import type { Mounts } from './mounts.ts';
import type { RunFolder } from './run-folder.ts';
import type { Sandbox } from './sandbox.ts';

/*
 * Tests at each start that the sandbox holds: a shell inside tries to write to denied paths, to see hidden ones, and to
 * reach two servers that ralph has started for this outside.
 */
const ATTEMPTS = `
name=$1 socat=$2 port=$3 socket=$4 work=$5
try() { ( eval "$2" ) >/dev/null 2>&1 && printf 'through %s\\n' "$1"; }
while IFS= read -r target; do
  place=\${target#*:}
  case $target in
    folder:*) ( : > "$place/$name" ) 2>/dev/null ;;
    file:*) try "a write to $place" ': >> "$place"' ;;
    hidden:*) try "a look at $place" '[ -e "$place" ] || [ -L "$place" ]' ;;
    empty:*) try "a look into $place" '[ -n "$(head -c 1 "$place")" ]' ;;
  esac
done
try 'a connection to this machine' '"$socat" -u OPEN:/dev/null "TCP:127.0.0.1:$port,connect-timeout=2"'
[ -z "$socket" ] || try 'a socket in the file system' '"$socat" -u OPEN:/dev/null "UNIX-CONNECT:$socket"'
[ -w "$work" ] || printf 'fixed\\n'
for each in ${NAMESPACES.join(' ')}; do printf 'namespace %s\\n' "$(readlink "/proc/self/ns/$each")"; done
printf 'end\\n'
`;

/** The time limit for the probe: longer than any start takes, even on a machine that swaps. */
const TIMEOUT_MS = 60_000;
const RESTRICTED = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';

interface ProbeOptions {
  readonly mounts: Mounts;
  readonly run: RunFolder;
  readonly home: string | null;
  readonly workFolder: string;
  readonly socat: string;
  readonly unixSockets: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns why the sandbox is refused; null if every attempt inside was prevented and the work folder is writable. */
export async function probeSandbox(
  sandbox: Pick<Sandbox, 'wrap'>,
  options: ProbeOptions,
): Promise<Refusal | null> {
  const { mounts, run, home, workFolder, socat, env } = options;
  const name = `.ralph-sandbox-probe-${randomBytes(6).toString('hex')}`;
  const fixed = [...(home === null ? [] : [home]), run.outside, ...mounts.denyWrite];
  const folders = fixed.filter(isFolder);
  const isHidden = (place: string): boolean =>
    isWithinAny(place, mounts.denyRead) && !isWithinAny(place, mounts.allowWrite);
  const targets = [
    ...folders.map((place) => `folder:${place}`),
    ...fixed.filter((each) => !isFolder(each) && !isHidden(each)).map((place) => `file:${place}`),
    ...mounts.denyRead
      .filter((place) => !mounts.allowWrite.includes(place))
      .flatMap((place) => hiddenIn(place, mounts) ?? []),
  ];
  const socket = path.join(run.sockets, 'probe');
  const tcp = await listening({ port: 0, host: '127.0.0.1' });
  const local = await listening({ path: socket });
  try {
    const given = [name, socat, portOf(tcp), options.unixSockets ? '' : socket, workFolder];
    const args = ['-c', ATTEMPTS, 'probe', ...given];
    const command = await sandbox.wrap({ file: '/bin/sh', args, env, cwd: '/' }, 'agent');
    const answer = await outcomeOf(command, run, targets);
    const written = folders.find((place) => isThere(path.join(place, name)));
    return judge(answer, written, workFolder);
  } catch (error) {
    return notStarted(oneLine(messageOf(error), 300), isRestricted());
  } finally {
    tcp.close();
    local.close();
    for (const place of folders) tryToRemove(path.join(place, name));
  }
}

function judge(
  { output, complaint }: ProbeOutcome,
  written: string | undefined,
  workFolder: string,
): Refusal | null {
  const lines = output.split('\n');
  if (written !== undefined) return doesNotHold(`a write to ${written} went through`);
  const through = lines.find((line) => line.startsWith('through '));
  if (through !== undefined) return doesNotHold(`${through.slice('through '.length)} went through`);
  if (!lines.includes('end')) {
    const words = complaint.split('\n').find((line) => line.trim() !== '');
    return notStarted(
      oneLine(words ?? 'a shell in it did not come to its end', 300),
      isRestricted(),
    );
  }
  const shared = NAMESPACES.find((each) => lines.includes(`namespace ${ownNamespace(each)}`));
  if (shared !== undefined) return shares(shared);
  if (lines.includes('fixed')) return notStarted(`${workFolder} is not writable in it`, false);
  return null;
}

/** Returns a target by which the probe can see that a path is hidden; null if the path holds nothing to see. */
function hiddenIn(place: string, { allowRead, allowWrite }: Mounts): string | null {
  if (!isFolder(place)) return (statOf(place)?.size ?? 0) > 0 ? `empty:${place}` : null;
  const shown = [...allowRead, ...allowWrite];
  const names = namesIn(place).map((name) => path.join(place, name));
  const hidden = names.find((each) => !shown.some((other) => isAtOrBelow(other, each)));
  return hidden === undefined ? null : `hidden:${hidden}`;
}

function ownNamespace(name: Namespace): string | null {
  return process.platform === 'linux' ? readlinkSync(`/proc/self/ns/${name}`) : null;
}

interface ProbeOutcome {
  readonly output: string;
  readonly complaint: string;
}

/** Runs the probe with its targets, one per line, on standard input: thousands are too long for arguments. */
function outcomeOf(
  { file, args, env }: ConfinedCommand,
  run: RunFolder,
  targets: readonly string[],
): Promise<ProbeOutcome> {
  const lines = targets.filter((each) => !each.includes('\n')).map((each) => `${each}\n`);
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], {
      cwd: run.empty,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own can be killed as a whole, even if the sandbox does not hold.
      detached: true,
    });
    const end = (): void => killGroup(child.pid);
    const timer = setTimeout(end, TIMEOUT_MS);
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    // A shell that could not start reads no input. This error is ignored, since the shell's end is handled below.
    child.stdin.on('error', () => {});
    child.stdin.end(lines.join(''));
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      end();
      resolve({ output, complaint });
    });
  });
}

function listening(where: ListenOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(where, () => resolve(server));
  });
}

function portOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}

/** Whether AppArmor denies users their own namespaces. */
export function isRestricted(): boolean {
  return ifPossible(() => readFileSync(RESTRICTED, 'utf8'))?.trim() === '1';
}

import { existsSync, readFileSync } from 'node:fs';

// What `strace` tells of a driver, and how it kills one. Nearly all calls are made by the main thread, and the
// rest by those of the pool, of which there is but one here. Each thread has a count of its own, and the first
// that comes to the Nth call of a name dies:
//
//   main   strace without -f: it sees no thread but this one
//   pool   strace -f, and the thread of the pool is AHEAD of the other: it has made that call 500 times in vain
//          before ralph begins, so that N + 500 is out of the main thread's reach
//
// How many files it opens depends on the processes that it finds: where a file keeps its name from run to run,
// only the calls about that file are counted.
//
// What a driver starts is let go with its `execve`, so that nothing but the driver is killed.

/** A system call of a driver, which its thread makes for the `at`th time. */
export interface TracedCall {
  readonly thread: 'main' | 'pool';
  readonly call: string;
  /** From 1, without those that were made in vain. */
  readonly at: number;
  /** The files it is about, without what is different in each run. */
  readonly on: string;
  /** Which of the calls of this name about these files it is, from 1. */
  readonly nth: number;
  /** How many calls of this name there were up to it whose number does not depend on chance. */
  readonly sure: number;
}

/** What names a call, so that a driver can be killed before it. */
export interface CallName {
  readonly thread: 'main' | 'pool';
  readonly call: string;
  readonly at: number;
  /** Where it is given, `at` counts only the calls about this file. */
  readonly path?: string | undefined;
}

/** Those that open, write, sync, rename or remove, and start or end a process. */
const CALLS = [
  ...['open', 'openat', 'openat2', 'creat', 'mkdir', 'mkdirat', 'mknod', 'mknodat'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg', 'sendfile'],
  ...['copy_file_range', 'truncate', 'ftruncate', 'fallocate', 'flock'],
  ...['fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat'],
  ...['unlink', 'unlinkat', 'rmdir', 'chmod', 'fchmod', 'fchmodat', 'chown', 'fchown', 'lchown'],
  ...['fchownat', 'utime', 'utimes', 'utimensat', 'setxattr', 'fsetxattr'],
  ...['clone', 'clone3', 'fork', 'vfork', 'kill', 'tkill', 'tgkill', 'pidfd_send_signal'],
];
// A machine that lacks one of them is no error.
const TRACED = [...CALLS, 'execve'].map((call) => `?${call}`).join(',');
/** The calls of the pool that the main thread makes, too; `dies-at.cjs` can make them in vain. */
const OF_BOTH = ['openat', 'write', 'rename', 'link', 'unlink', 'mkdir', 'rmdir'];
const AHEAD = 500;
const ROOT = '~';
const THREADS = ['-f', '--detach-on=execve'];

/** The words before a command that write its calls to `log`. */
export function tracedTo(log: string): readonly string[] {
  return ['strace', ...THREADS, ...writingTo(log)];
}

/** The words before a command by which it is killed before a call, which is then the last in `log`. */
export function killedBefore(aim: CallName, log: string, root: string): readonly string[] {
  const when = aim.at + aheadBy(aim);
  const inject = ['-e', `inject=${aim.call}:signal=SIGKILL:when=${when}`];
  const only = aim.path === undefined ? [] : ['-P', aim.path.replace(ROOT, root)];
  const threads = aim.thread === 'pool' ? THREADS : [];
  return ['strace', ...threads, ...writingTo(log), ...only, ...inject];
}

/** How a call is named that comes at the same place in the next run, too, if any name does that. */
export function nameOf({ thread, call, at, on, nth }: TracedCall): CallName {
  const isOwnName = /^~?\/[^#→]+$/.test(on) && !isByChance(on);
  if (thread === 'main' && ['openat', 'write'].includes(call) && isOwnName) {
    return { thread, call, at: nth, path: on };
  }
  return { thread, call, at };
}

/** How often the thread of the pool has to make that call in vain beforehand. */
export function aheadBy({ thread, call }: CallName): number {
  return thread === 'pool' && OF_BOTH.includes(call) ? AHEAD : 0;
}

/** The call before which a driver was killed; null where it lived. */
export function readHit(log: string, root: string, aim: CallName): TracedCall | null {
  if (!existsSync(log)) return null;
  const ahead = aheadBy(aim);
  const hits = readCalls(log, root).filter(
    ({ call, at }) => call === aim.call && at === aim.at + ahead,
  );
  const hit = hits.find(({ thread }) => thread === aim.thread) ?? hits[0];
  return hit === undefined ? null : { ...hit, at: hit.at - ahead };
}

function writingTo(log: string): readonly string[] {
  return ['-o', log, '-y', '-s', '0', '-e', 'signal=none', '-e', `trace=${TRACED}`];
}

/** The calls in a log, in their order. In the names of files `root` is `~`. */
export function readCalls(log: string, root: string): readonly TracedCall[] {
  const lines = readFileSync(log, 'utf8').split('\n');
  const read = lines.flatMap((line) => {
    const [, tid = '', call, args = ''] =
      /^(?:(\d+) +)?(\w+)\((.*?)(?:\) += .*| <unfinished \.\.\.>.*)?$/.exec(line) ?? [];
    return call === undefined ? [] : [{ tid, call, args }];
  });
  const main = read[0]?.tid;
  // What has been started is on its way to its own program: those few calls are not the driver's.
  const started = new Set(read.filter(({ call }) => call === 'execve').map(({ tid }) => tid));
  const counts = new Map<string, number>();
  const count = (key: string): number => {
    const next = (counts.get(key) ?? 0) + 1;
    counts.set(key, next);
    return next;
  };
  return read.flatMap(({ tid, call, args }): TracedCall[] => {
    if (call === 'execve' || (tid !== main && started.has(tid))) return [];
    const thread = tid === main ? 'main' : 'pool';
    const on = filesIn(args, root);
    const [at, nth] = [count(`${tid} ${call}`), count(`${tid} ${call} ${on}`)];
    const sure = (counts.get(`${tid} ${call} sure`) ?? 0) + (isByChance(on) ? 0 : 1);
    counts.set(`${tid} ${call} sure`, sure);
    return [{ thread, call, at, on, nth, sure }];
  });
}

/** Whether it only wakes a thread of the driver: nobody outside can tell whether it was made. */
export function isWakeUp({ on }: TracedCall): boolean {
  return on === 'anon_inode:[eventfd]' || on === 'pipe:[#]';
}

/** Whether the number of calls about it depends on the moment: what is read about processes. */
export function isByChance(on: string): boolean {
  return on.startsWith('/proc');
}

function filesIn(args: string, root: string): string {
  const [, stream] = /^([12])</.exec(args) ?? [];
  if (stream !== undefined) return stream === '1' ? 'stdout' : 'stderr';
  return [...args.matchAll(/AT_FDCWD<[^>]*>|<([^>]*)>|"([^"]*)"/g)]
    .flatMap(([, descriptor, name]) => descriptor ?? name ?? [])
    .filter((name) => name !== '')
    .map((name) => name.replace(root, ROOT))
    .join(' → ')
    .replaceAll(
      /[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}|\d+-[\da-f]{6,}|\d{8,}(?:T\d+Z)?|(?<=\[|\/proc\/)\d+/g,
      '#',
    );
}

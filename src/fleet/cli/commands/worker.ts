import { say } from '../../../cli/terminal/outlet.ts';
import { parseDuration } from '../../../core/settings/duration.ts';
import { watchSignals } from '../../../effects/processes/signals.ts';
import { UsageError } from '../../../errors.ts';
import { exitCodeFor } from '../../../exit-codes.ts';
import { isQueueName, queueProblem } from '../../core/spec-problems.ts';
import { startWorker } from '../../worker/start-worker.ts';
import { openNamed } from '../on-fleet.ts';
import { requireFleet } from '../which-fleet.ts';

declare const __RALPH_VERSION__: string;

/** The flags of `ralph worker`, as they were written. */
export interface WorkerFlags {
  readonly fleet?: string;
  readonly slots?: string;
  readonly queue?: readonly string[];
  readonly id?: string;
  readonly home?: string;
  readonly accounts?: string;
  readonly policy?: string;
  readonly poll?: string;
  readonly untilEmpty?: boolean;
  readonly drainTimeout?: string;
  readonly keepTrees?: string;
  readonly verbose?: boolean;
}

/** `ralph worker`: claims tasks of a fleet and works on them until it is told to stop. */
export async function worker(flags: WorkerFlags): Promise<number> {
  const fleet = requireFleet('worker', flags, process.env);
  const problems: string[] = [];
  const request = {
    fleet,
    queues: queuesOf(flags.queue ?? ['default'], problems),
    slots: slotsOf(flags.slots ?? '1', problems),
    pollMs: durationOf('--poll', flags.poll ?? '2s', problems),
    drainTimeoutMs: durationOf('--drain-timeout', flags.drainTimeout ?? '30m', problems),
    keepTrees: treesOf(flags.keepTrees ?? 'failed', problems),
    untilEmpty: flags.untilEmpty === true,
    isVerbose: flags.verbose === true,
    id: flags.id === undefined ? null : idOf(flags.id, problems),
    home: flags.home ?? null,
    accountsFile: flags.accounts ?? null,
    policyFile: flags.policy ?? null,
    env: process.env,
    version: __RALPH_VERSION__,
    open: (url: string) => openNamed(url, { purpose: 'worker' }),
  };
  if (problems.length > 0) throw new UsageError(problems);
  if (isOldNode())
    say(
      `pg-boss expects Node 22.12 or newer; this is Node ${process.versions.node}, on which a worker is tested less.`,
    );
  const stops = watchSignals();
  try {
    const { gaveBack } = await startWorker(request, stops, say);
    const signal = stops.cause();
    return gaveBack && signal !== null ? exitCodeFor('stopped', `stopped:${signal}`) : 0;
  } finally {
    stops.close();
  }
}

function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 12);
}

function queuesOf(names: readonly string[], problems: string[]): readonly string[] {
  for (const name of names) if (!isQueueName(name)) problems.push(queueProblem(name));
  return [...new Set(names)];
}

function slotsOf(text: string, problems: string[]): number {
  const slots = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (slots < 1) problems.push(`--slots expects a whole number from 1 to 999; found '${text}'.`);
  return slots;
}

function durationOf(flag: string, text: string, problems: string[]): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  problems.push(`${flag} expects a duration such as 90s or 30m; found '${text}'.`);
  return 0;
}

const TREES = ['failed', 'all', 'none'] as const;

function treesOf(text: string, problems: string[]): (typeof TREES)[number] {
  const found = TREES.find((each) => each === text);
  if (found === undefined) {
    problems.push(`--keep-trees expects one of ${TREES.join(', ')}; found '${text}'.`);
  }
  return found ?? 'failed';
}

function idOf(text: string, problems: string[]): string {
  if (!/^[\w.-]{1,100}$/.test(text)) {
    problems.push(`--id expects a name of A-Z a-z 0-9 . _ -, up to 100; found '${text}'.`);
  }
  return text;
}

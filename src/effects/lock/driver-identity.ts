import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Here } from '../../core/task/driver.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { ifPossible } from '../files/if-possible.ts';
import { isAlive, readBootId, readProcess, showsOwnPids } from '../processes/process-table.ts';

/** Describes this process as a task's driver, the process that runs the task: not only by pid, as pids are reused. */
export function thisDriver(at: string, runId: string): Driver {
  const { host, bootId, pidNamespace } = ownPlace();
  return {
    pid: process.pid,
    pid_started_at: readProcess(process.pid)?.startedAt ?? '',
    boot_id: bootId,
    host,
    pid_namespace: pidNamespace,
    run_id: runId,
    beat_at: at,
  };
}

/** Returns what this process needs to judge whether a driver is alive. */
export function thisPlace(at: string): Here {
  return { ...ownPlace(), at, isAlive };
}

/** Determined once: a process keeps its host, boot and namespace. */
let found: Pick<Here, 'host' | 'bootId' | 'pidNamespace'> | null = null;

function ownPlace(): NonNullable<typeof found> {
  found ??= { host: hostname(), bootId: readBootId() ?? '', pidNamespace: pidNamespace() };
  return found;
}

/**
 * Names the pid namespace of this process; empty if the system has only one. If /proc shows another
 * namespace (ours did not mount its own /proc), its pids are not ours: then returns a unique name,
 * so that drivers are judged by their heartbeat.
 */
function pidNamespace(): string {
  const namespace = ifPossible(() => readlinkSync('/proc/self/ns/pid'));
  if (namespace === null) return '';
  return showsOwnPids() ? namespace : `${namespace} ${randomUUID()}`;
}

import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Here } from '../core/driver.ts';
import type { Driver } from '../core/task-state.ts';
import { isAlive, readBootId, readProcess, showsOwnPids } from './process-table.ts';

/** This process as the state file names it: by more than a pid, since pids are used again. */
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

/** Where this process judges from whether a driver is alive. */
export function thisPlace(at: string): Here {
  return { ...ownPlace(), at, isAlive };
}

/** Found out once: a process stays where it is, and goes by one name while it lives. */
let found: Pick<Here, 'host' | 'bootId' | 'pidNamespace'> | null = null;

function ownPlace(): NonNullable<typeof found> {
  found ??= { host: hostname(), bootId: readBootId() ?? '', pidNamespace: pidNamespace() };
  return found;
}

/**
 * Names the set of pids that this process sees; empty where the system has but one. Where /proc shows
 * another set (a namespace that did not mount its own) no pid in it is ours: then the name is one
 * that nobody else has, and drivers are judged by their beat.
 */
function pidNamespace(): string {
  try {
    const namespace = readlinkSync('/proc/self/ns/pid');
    return showsOwnPids() ? namespace : `${namespace} ${randomUUID()}`;
  } catch {
    return '';
  }
}

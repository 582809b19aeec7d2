import { hostname } from 'node:os';
import type { Driver } from '../core/task-state.ts';
import { readBootId, readProcess } from './process-table.ts';

/** This process as the state file names it: by more than a pid, since pids are used again. */
export function thisDriver(at: string): Driver {
  return {
    pid: process.pid,
    pid_started_at: readProcess(process.pid)?.startedAt ?? '',
    boot_id: readBootId() ?? '',
    host: hostname(),
    beat_at: at,
  };
}

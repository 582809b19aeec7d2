import { FleetError } from '../../errors.ts';
import type { FleetQueue } from './fleet-queue.ts';

/** Connects to a fleet. Rejects with a `FleetError`, since no engine is there yet. */
export async function openFleet(_fleet: {
  url: string;
  env: NodeJS.ProcessEnv;
  purpose: 'worker' | 'command';
}): Promise<FleetQueue> {
  throw new FleetError('pg-boss is missing; install it with npm install pg-boss@~12.38.0.');
}

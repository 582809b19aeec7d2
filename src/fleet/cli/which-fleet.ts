import { say } from '../../cli/terminal/outlet.ts';
import { FLEET_VARIABLE } from '../../core/settings/environment.ts';
import { UsageError } from '../../errors.ts';
import { fleetUrlProblem, hasPassword } from '../core/fleet-url.ts';
import type { OpenFleet } from './on-fleet.ts';

/** The options that decide whether a command works on a fleet or on a vault (the tasks of this machine). */
export interface FleetOptions {
  readonly fleet?: string;
  readonly vault?: string;
  readonly stateDir?: string;
  readonly json?: boolean;
}

/**
 * Returns the URL of the fleet that a command works on: `--fleet`, or else `RALPH_FLEET`. Returns null for a
 * vault: if no fleet is named, or only by the variable while `--vault` or `--state-dir` is given. Warns of a password
 * in `--fleet`. Throws a `UsageError` if flags name a fleet and a vault, for an invalid URL, and in a process of a run.
 */
export function fleetNamed(options: FleetOptions, env: NodeJS.ProcessEnv): string | null {
  const { fleet: flag } = options;
  const place =
    options.vault !== undefined ? '--vault' : options.stateDir !== undefined ? '--state-dir' : null;
  if (flag !== undefined && place !== null) {
    throw new UsageError([
      `--fleet and ${place} exclude each other: a task is in a fleet or in a vault.`,
    ]);
  }
  const { [FLEET_VARIABLE]: variable = '' } = env;
  const url = flag ?? (place !== null || variable.trim() === '' ? null : variable);
  if (url === null) return null;
  refuseInsideLoop(env);
  const problem = fleetUrlProblem(url, flag === undefined ? FLEET_VARIABLE : '--fleet');
  if (problem !== null) throw new UsageError([problem]);
  if (flag !== undefined && hasPassword(flag)) {
    say(
      `--fleet has a password in it, which other users see in the list of processes; use ${FLEET_VARIABLE}, PGPASSFILE or ~/.pgpass.`,
    );
  }
  return url;
}

/**
 * Carries a command out on the fleet that its flags name, as `fleetNamed` says. `load` resolves to the function for it,
 * or rejects before a connection is opened. Returns null, and does nothing, if the flags name a vault: then nothing that
 * is only for fleets is loaded.
 */
export function ifOnFleet(
  options: FleetOptions,
  load: () => Promise<(fleet: OpenFleet) => Promise<number>>,
): Promise<number> | null {
  const url = fleetNamed(options, process.env);
  if (url === null) return null;
  return load().then(async (run) => (await import('./on-fleet.ts')).onFleet(url, options, run));
}

/** Returns the URL of the fleet for a command that works only on fleets. Throws a `UsageError` if none is named. */
export function requireFleet(
  command: string,
  options: Pick<FleetOptions, 'fleet'>,
  env: NodeJS.ProcessEnv,
): string {
  refuseInsideLoop(env);
  const url = fleetNamed(options, env);
  if (url !== null) return url;
  throw new UsageError([
    `ralph ${command} needs a fleet, and none was named; name its database with --fleet postgres://USER@HOST/DATABASE or with ${FLEET_VARIABLE}.`,
  ]);
}

/** Throws a `UsageError` in a process of a run: an agent must neither queue tasks nor answer for a person. */
export function refuseInsideLoop(env: NodeJS.ProcessEnv): void {
  if (!env.RALPH_RUN_ID) return;
  throw new UsageError([
    'Commands on a fleet are refused inside a loop: they are for a person, from another terminal.',
  ]);
}

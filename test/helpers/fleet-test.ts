import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { FleetHost } from './fleet-hosts.ts';
import { type FleetScene, type FleetSceneOptions, makeFleetScene } from './fleet-scene.ts';
import { type FleetSite, makeFleetSite } from './fleet-site.ts';
import type { StubNote } from './fleet-stub.ts';
import { PATIENCE_MS } from './patience.ts';
import { until } from './processes.ts';

/** Makes a site for the tests of a file. Returns what makes a fleet on it for the running test. */
export function useFleetSite(
  hosts: number,
): (options?: FleetSceneOptions) => Promise<FleetScene & { host(number: number): FleetHost }> {
  let site: FleetSite | null = null;
  beforeAll(async () => {
    site = await makeFleetSite(hosts);
  });
  afterAll(() => site?.remove());
  return async (options) => {
    if (site === null) throw new Error('there is no site');
    const scene = await makeFleetScene(site, options);
    onTestFinished(() => scene.end());
    const host = (number: number): FleetHost => {
      const found = scene.hosts[number - 1];
      if (found === undefined) throw new Error(`there is no host ${number}`);
      return found;
    };
    return { ...scene, host };
  };
}

/** Waits until the stub has noted something, and returns the note. */
export function untilNoted(
  scene: FleetScene,
  sign: (note: StubNote) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<StubNote> {
  return until(
    () => scene.stub.notes().find(sign),
    () => `a note of the stub; so far: ${JSON.stringify(scene.stub.notes().slice(-10))}`,
    timeoutMs,
  );
}

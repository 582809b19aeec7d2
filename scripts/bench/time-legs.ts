import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFleetScene } from '../../test/helpers/fleet-scene.ts';
import { makeFleetSite } from '../../test/helpers/fleet-site.ts';
import { setup } from '../../test/helpers/install-engine.ts';
import { gitIn } from '../../test/helpers/repository.ts';

// What a fleet adds to a task, beside `ralph run` with the same agent and repository: npm run bench:legs. The agent
// ends at once; what is printed is the time of a whole task, and of each iteration after its first, in milliseconds.

const TASKS = 5;
const LONG = 11;

const removeInstallation = await setup();
const site = await makeFleetSite(1);
try {
  const scene = await makeFleetScene(site, { lease: '30s' });
  const [host] = scene.hosts;
  if (host === undefined) throw new Error('the site has no host');

  const print = (what: string, local: number, fleet: number, goalMs: number): void => {
    const [more, ...both] = [fleet - local, local, fleet].map((ms) => ms.toFixed(0));
    console.log(
      `${what}: ${both.join(' local, ')} on the fleet, a difference of ${more} ms (goal: ${goalMs} ms)`,
    );
  };

  let round = 0;

  /** Milliseconds of a task of so many iterations, on the fleet. */
  const fleetMs = async (iterations: number): Promise<number> => {
    scene.stub.does({ seconds: 0, iterations });
    await scene.submit(
      Array.from({ length: TASKS }, (_, at) => ({
        task_id: `fleet-${round}-${iterations}-${at}`,
        // On this machine's disk, as the clones of the local runs.
        repo: `file://${scene.origin.folder}`,
      })),
    );
    const worker = await scene.startWorker(host, ['--until-empty']);
    await worker.untilSaid(/took /, 60_000);
    const beganMs = performance.now();
    await worker.untilSaid(
      new RegExp(`fleet-${round}-${iterations}-${TASKS - 1}: completed`),
      300_000,
    );
    const tookMs = performance.now() - beganMs;
    await worker.ended;
    return tookMs / TASKS;
  };

  /** The same in a clone, without a fleet. */
  const localMs = async (iterations: number): Promise<number> => {
    scene.stub.does({ seconds: 0, iterations });
    let tookMs = 0;
    for (let at = 0; at < TASKS; at += 1) {
      const folder = join(scene.folder, `local-${round}-${iterations}-${at}`);
      mkdirSync(folder);
      gitIn(scene.folder)('clone', '-q', scene.origin.folder, folder);
      const beganMs = performance.now();
      const { exitCode, stderr } = await scene.ralph(
        ['run', '--prompt', 'Do the work.', '--delay', '0s', '--max-iterations', '50'],
        { cwd: folder },
        host,
      );
      tookMs += performance.now() - beganMs;
      if (exitCode !== 0) throw new Error(stderr);
    }
    return tookMs / TASKS;
  };

  for (; round < 2; round += 1) {
    const [local, fleet] = [await localMs(1), await fleetMs(1)];
    const [localLong, fleetLong] = [await localMs(LONG), await fleetMs(LONG)];
    const each = (long: number, short: number): number => (long - short) / (LONG - 1);
    print('a task of 1 iteration', local, fleet, 150);
    print('each further iteration', each(localLong, local), each(fleetLong, fleet), 100);
  }
  await scene.end();
} finally {
  await site.remove();
  await removeInstallation();
}

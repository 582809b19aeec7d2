// Works through hundreds of tasks on three hosts of which one is killed, stopped or cut off every ten seconds, and
// checks that each task ends once and that nothing is lost or paid twice: npm run campaign:fleet. Takes about half an hour.
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { auditFleet, stubCost } from '../test/helpers/fleet-audit.ts';
import { makeFleetScene } from '../test/helpers/fleet-scene.ts';
import { makeFleetSite } from '../test/helpers/fleet-site.ts';
import { type Disturbance, soakFleet } from '../test/helpers/fleet-soak.ts';
import { repeatedStarts } from '../test/helpers/fleet-stub.ts';
import { setup } from '../test/helpers/install-engine.ts';

const FOLDER = fileURLToPath(new URL('../fleet-campaign', import.meta.url));
const HELP = `npm run campaign:fleet -- [--tasks N] [--minutes N] [--seed S] [--hosts N] [--slots N] [--iterations N]

  --tasks N       so many tasks; 500 if not given
  --minutes N     a host is disturbed every ten seconds for so long; 5 if not given
  --seed S        which host, and how; chosen and told if not given
  --hosts N       so many hosts; 3 if not given
  --slots N       so many agents at once on each; 4 if not given
  --iterations N  so many in each task; 3 if not given
`;
const LEASE_MS = 20_000;
const EVERY_MS = 10_000;

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '500' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    hosts: { type: 'string', default: '3' },
    slots: { type: 'string', default: '4' },
    iterations: { type: 'string', default: '3' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [tasks, minutes, seed] = [values.tasks, values.minutes, values.seed].map(Number);
const [hosts, slots, iterations] = [values.hosts, values.slots, values.iterations].map(Number);
const numbers = { tasks, minutes, seed, hosts, slots, iterations };
if (values.help || Object.values(numbers).some((each) => !(Number(each) >= 0))) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
process.exitCode = await campaign(numbers as Readonly<Record<keyof typeof numbers, number>>);

async function campaign(given: Readonly<Record<keyof typeof numbers, number>>): Promise<number> {
  const { tasks, minutes, seed, hosts, slots, iterations } = given;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const tell = (line: string): void => {
    console.log(line);
    appendFileSync(join(FOLDER, 'campaign.log'), `${line}\n`);
  };
  const removeInstallation = await setup();
  const site = await makeFleetSite(hosts);
  // Ctrl-C must not leave hosts behind.
  const interrupted = (): void => void site.remove().finally(() => process.exit(130));
  process.once('SIGINT', interrupted);
  try {
    const kinds: readonly Disturbance[] =
      site.hosts.kind === 'namespaces'
        ? ['killed', 'lost', 'stopped', 'cut']
        : ['killed', 'lost', 'stopped'];
    const turn = { seconds: 2, iterations };
    const scene = await makeFleetScene(site, { lease: `${LEASE_MS / 1_000}s`, turn });
    const ids = await scene.submit(
      Array.from({ length: tasks }, (_, at) => ({ task_id: `task-${at + 1}` })),
    );
    tell(`seed ${seed}: ${tasks} tasks of ${iterations} iterations, ${hosts} hosts x ${slots}`);
    const beganMs = performance.now();
    const soaked = await soakFleet(scene, {
      ...{ seed, slots, kinds, tell },
      ...{ leaseMs: LEASE_MS, everyMs: EVERY_MS },
      goesOn: (_, sinceMs) => sinceMs < minutes * 60_000,
      patienceMs: 60 * 60_000,
    });
    const audit = await auditFleet(scene, ids, iterations);
    const problems = [...soaked.problems, ...audit.problems];
    const summary = {
      ...{ ...given, tookS: Math.round((performance.now() - beganMs) / 1_000) },
      ...{ ...soaked.counts, repeated: repeatedStarts(scene.stub.notes()) },
      ...{ ...audit, problems },
    };
    writeFileSync(join(FOLDER, 'results.json'), `${JSON.stringify(summary, null, 2)}\n`);
    for (const problem of problems) tell(problem);
    if (problems.length > 0) cpSync(scene.folder, join(FOLDER, 'scene'), { recursive: true });
    const { killed, lost, stopped, cut } = soaked.counts;
    tell(
      `${audit.ended} of ${tasks} tasks ended in ${summary.tookS} s: ${audit.iterations} iterations counted of ${tasks * iterations}, ` +
        `$${audit.costUsd.toFixed(2)} of $${(tasks * stubCost(iterations)).toFixed(2)}, ${audit.starts} starts, ${summary.repeated} of them again; ` +
        `hosts killed ${killed}, lost ${lost}, stopped ${stopped}, cut off ${cut} times; ${problems.length} problems`,
    );
    if (problems.length > 0) {
      tell(
        `  again: npm run campaign:fleet -- --seed ${seed} --tasks ${tasks} --minutes ${minutes}`,
      );
    }
    await scene.end();
    return problems.length === 0 ? 0 : 1;
  } finally {
    process.off('SIGINT', interrupted);
    await site.remove();
    await removeInstallation();
  }
}

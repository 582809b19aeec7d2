import { describeAccounts } from '../../helpers/fleet-account-cases.ts';
import { describeQueue, type FleetInHand } from '../../helpers/fleet-cases.ts';
import { describeResuming } from '../../helpers/fleet-resume-cases.ts';
import { describeSteering } from '../../helpers/fleet-steering-cases.ts';
import { describeWaiting } from '../../helpers/fleet-waiting-cases.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';

async function fresh(): Promise<FleetInHand> {
  let now = Date.parse('2026-03-01T12:00:00.000Z');
  const queue = memoryFleet({ now: () => now });
  return {
    queue,
    other: queue,
    now: () => now,
    async later(ms) {
      now += ms;
    },
  };
}

describeQueue('the in-memory twin of the queue', fresh);
describeSteering('the in-memory twin of the queue', fresh);
describeResuming('the in-memory twin of the queue', fresh);
describeAccounts('the in-memory twin of the queue', fresh);
describeWaiting('the in-memory twin of the queue', fresh);

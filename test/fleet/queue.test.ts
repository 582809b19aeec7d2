import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { describeAccounts } from '../helpers/fleet-account-cases.ts';
import { describeQueue, type FleetInHand } from '../helpers/fleet-cases.ts';
import { describeResuming } from '../helpers/fleet-resume-cases.ts';
import { describeSteering } from '../helpers/fleet-steering-cases.ts';
import { describeWaiting } from '../helpers/fleet-waiting-cases.ts';
import { openTestFleet, type Postgres, startPostgres } from '../helpers/postgres.ts';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function fresh(): Promise<FleetInHand> {
  const url = await postgres.url();
  const [queue, other] = await Promise.all([openTestFleet(url, 'worker'), openTestFleet(url)]);
  onTestFinished(async () => {
    await Promise.all([queue.close(), other.close()]);
  });
  return {
    queue,
    other,
    now: Date.now,
    async later(ms) {
      const by = `interval '${ms} ms'`;
      await postgres.sql(
        url,
        `update ralph_queue.job set start_after = start_after - ${by}, heartbeat_on = heartbeat_on - ${by};
         update ralph.account set paused_until = paused_until - ${by};
         update ralph.approval set expires_at = expires_at - ${by}, asked_at = asked_at - ${by};
         update ralph.task set not_before = not_before - ${by}`,
      );
    },
  };
}

describeQueue('the queue on PostgreSQL', fresh);
describeSteering('the queue on PostgreSQL', fresh);
describeResuming('the queue on PostgreSQL', fresh);
describeAccounts('the queue on PostgreSQL', fresh);
describeWaiting('the queue on PostgreSQL', fresh);

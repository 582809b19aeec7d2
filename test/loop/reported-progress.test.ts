import { describe, expect, test } from 'vitest';
import type { ProgressReport } from '../../src/core/completion/progress-report.ts';
import { NOTHING_SEEN } from '../../src/core/completion/sightings.ts';
import { initialState } from '../../src/core/machine/transition.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import { answered } from '../helpers/attempt-facts.ts';
import { fakePorts } from '../helpers/fake-ports.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

/** Three iterations that move nothing, with what scripts report before each event. */
async function run(progress: readonly (readonly ProgressReport[])[]) {
  const policy = loopPolicy({ delayMs: 0, maxIterations: 3, noProgressLimit: 2 });
  const attempts = [1, 2, 3].map((number) => answered(`Part ${number}.`));
  const idle = {
    ...NOTHING_SEEN,
    progress: { git: { commits: 0, filesChanged: 0 }, watched: null },
  };
  const fake = fakePorts({ attempts, progress, sightings: [idle, idle, idle] });
  const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
  const { state } = await runLoop(fake.ports, initialState(newTask(policy)), started, policy);
  return state.task;
}

const report = (done: number): ProgressReport => ({ done, total: 5, step: `Step ${done}` });

describe('progress that a script reports', () => {
  test('is in the state', async () => {
    const { progress } = await run([[], [report(1), report(2)]]);
    expect(progress).toEqual({
      steps_total: 5,
      steps_completed: 2,
      current_step: 'Step 2',
      percentage: 40,
    });
  });

  test('counts as progress for the breaker in the iteration in which it came', async () => {
    // The first is read before the start; then two events an iteration: its end, and the look.
    const moving = await run([[], [report(1)], [], [report(2)], [], [report(3)]]);
    expect([moving.status, moving.breaker.no_progress]).toEqual(['max_iterations_reached', 0]);
  });

  test.for([
    ['that does not advance', [[report(1)], [], [], [report(1)], [], [report(1)]]],
    ['that came once', [[], [report(1)]]],
  ] as const)('%s does not count in the iterations after it', async ([, progress]) => {
    const { status, exit_reason, metrics } = await run(progress);
    expect([status, exit_reason, metrics.iterations]).toEqual(['stalled', 'no-progress', 3]);
  });
});

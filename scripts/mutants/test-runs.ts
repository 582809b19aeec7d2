import { join } from 'node:path';
import { createVitest, ForksPoolWorker, type TestSpecification } from 'vitest/node';
import { STATE_HOME } from '../../test/helpers/state-home.ts';

/** So long no test takes that ends at all. */
const SILENCE_MS = 60_000;

/** What tests say of the code as it is. */
type TestsEnd =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly by: string | null }
  | { readonly kind: 'timed-out' };

/** Runs tests of one checkout, again and again, in one Vitest, which keeps what it has transformed. */
export interface TestRuns {
  /** Runs test files one after another, in the order given, up to the first failure. */
  readonly run: (tests: readonly string[]) => Promise<TestsEnd>;
  /** Has to be told of each file that changed. */
  readonly forget: (path: string) => void;
  readonly close: () => Promise<void>;
}

/** As given: what is nearest to a mutation stands first. */
class InOrder {
  readonly sort = async (tests: TestSpecification[]) => tests;
  readonly shard = this.sort;
}

export async function openTestRuns(root: string): Promise<TestRuns> {
  let onSign = (): void => {};
  let worker: ForksPoolWorker | undefined;
  const vitest = await createVitest(
    'test',
    {
      config: false,
      root,
      watch: false,
      include: ['test/**/*.test.ts'],
      env: { XDG_STATE_HOME: STATE_HOME },
      isolate: false,
      maxWorkers: 1,
      bail: 1,
      testTimeout: SILENCE_MS,
      hookTimeout: SILENCE_MS,
      reporters: [{ onTestCaseResult: () => onSign(), onTestModuleEnd: () => onSign() }],
      sequence: { sequencer: InOrder },
      pool: {
        name: 'bounded-forks',
        createPoolWorker: (options) => {
          worker = new ForksPoolWorker(options);
          return worker;
        },
      },
    },
    { define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') } },
    { stdout: process.stderr, stderr: process.stderr },
  );
  await vitest.standalone();
  const project = vitest.getRootProject();

  const run = async (tests: readonly string[]): Promise<TestsEnd> => {
    let isKilled = false;
    // A loop without an end hears nothing: what runs it has to be killed.
    const kill = (): void => {
      isKilled = true;
      void worker?.stop();
    };
    const timer = setTimeout(kill, SILENCE_MS);
    onSign = () => timer.refresh();
    // What failed in the run before would count as a failure of this one, and end it at once.
    vitest.state.filesMap.clear();
    vitest.state.idMap.clear();
    const specifications = tests.map((test) => project.createSpecification(join(root, test)));
    const ended = await vitest.runTestSpecifications(specifications);
    clearTimeout(timer);
    onSign = () => {};
    if (isKilled) return { kind: 'timed-out' };
    const failed = ended.testModules.filter((module) => module.state() === 'failed');
    const passed = failed.length === 0 && ended.unhandledErrors.length === 0;
    if (passed) return { kind: 'passed' };
    return { kind: 'failed', by: failed[0]?.relativeModuleId ?? null };
  };
  return {
    run,
    forget: (path) => vitest.invalidateFile(path),
    close: () => vitest.close(),
  };
}

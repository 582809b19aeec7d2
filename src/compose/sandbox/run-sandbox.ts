import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { requireSandbox } from '../../effects/sandbox/examine.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import { planSandbox, type SandboxRequest } from '../../effects/sandbox/surroundings.ts';
import { openSandbox } from './open-sandbox.ts';
import { sandboxRequest } from './sandbox-request.ts';

/** The sandbox of a run, which is opened when the task's folder is there. */
export interface RunSandbox {
  /** Rejects with a `SandboxError` if the sandbox cannot be had, as far as that shows without opening it. */
  require(): Promise<void>;
  /** Returns the sandbox, which the first call opens; null without `--sandbox`. Rejects with a `SandboxError`. */
  open(): Promise<Sandbox | null>;
  /** Call this last, when nothing in it lives. */
  close(): Promise<void>;
}

/** For which run a sandbox is opened. */
export interface RunInSandbox {
  /** Returns the programs of the run's agents, which nothing inside may change. */
  readonly programs: () => readonly string[];
  readonly runId: string;
  readonly warn: (sentence: string) => void;
  /** A request to stop. */
  readonly signal: AbortSignal;
}

/** Creates the sandbox of a run. Import this file only with `--sandbox`. */
export function createRunSandbox(plan: RunPlan, run: RunInSandbox): RunSandbox {
  const { runId, warn } = run;
  let opened: Promise<Sandbox> | null = null;
  const request = (): Promise<SandboxRequest> => sandboxRequest(plan, run.programs());
  return {
    async require() {
      await requireSandbox(plan.cwd, plan.env, run.signal);
      // A work tree of the task's own is not there yet, or may not be whole.
      if (plan.workTree === null) await planSandbox(await request());
    },
    open() {
      opened ??= request().then((each) => openSandbox({ ...each, runId, warn }));
      return opened;
    },
    async close() {
      await (await opened?.catch(() => null))?.close();
    },
  };
}

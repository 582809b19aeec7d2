import path from 'node:path';
import { storedPolicy } from '../../core/policy/policy-of.ts';
import type { AskedRules, SandboxRule } from '../../core/sandbox/rules.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { withinBounds } from '../../core/task/task-sandbox.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { requireSandbox } from '../../effects/sandbox/examine.ts';
import { namesShownInHome } from '../../effects/sandbox/home-entries.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import { planSandbox, type SandboxRequest } from '../../effects/sandbox/surroundings.ts';
import { metLines, notPassedOn, readableHome } from '../../report/sandbox-words.ts';
import { openSandbox } from './open-sandbox.ts';
import { askedRules, sandboxRequest } from './sandbox-request.ts';

/** The sandbox of a run. It is opened once the task's folder exists. */
export interface RunSandbox {
  /** Returns the sandbox, opened by the first call; null without `--sandbox`. Rejects with a `SandboxError`. */
  open(): Promise<Sandbox | null>;
  /** Returns the paths that the agent may not write, without opening the sandbox. Rejects with a `SandboxError`. */
  denied(): Promise<readonly string[]>;
  /** Closes the sandbox. Call it last, when no process in it is alive. */
  close(): Promise<void>;
}

/** Facts about the run for which a sandbox is opened. */
export interface RunInSandbox {
  /** Returns the programs of the run's agents, which nothing in the sandbox may change. */
  readonly programs: () => readonly string[];
  readonly runId: string;
  readonly warn: (sentence: string) => void;
}

/** Creates the sandbox of a run. Import this file only with `--sandbox`. */
export function createRunSandbox(plan: RunPlan, run: RunInSandbox): RunSandbox {
  const { runId, warn } = run;
  let opened: Promise<Sandbox> | null = null;
  const request = (): Promise<SandboxRequest> => sandboxRequest(plan, run.programs());
  const start = async (): Promise<Sandbox> => {
    const sandbox = await openSandbox({ ...(await request()), runId, warn });
    const { rules } = sandbox;
    const shown =
      rules.hiddenHome === null ? [] : namesShownInHome(rules.hiddenHome, rules.denyRead);
    for (const notice of [notPassedOn(rules), readableHome(shown)]) {
      if (notice !== null) warn(notice);
    }
    return sandbox;
  };
  return {
    open() {
      opened ??= start();
      return opened;
    },
    denied: async () => deniedBy(await request()),
    async close() {
      await (await opened?.catch(() => null))?.close();
    },
  };
}

async function deniedBy(request: SandboxRequest): Promise<readonly string[]> {
  return (await planSandbox(request)).rules.denyWrite.map(({ value }) => value);
}

/** A task whose checks run again after its run, for example when its work is merged into a branch. */
export interface LaterChecks {
  readonly state: TaskState;
  readonly stored: StoredRun;
  readonly vault: string;
  readonly stateDir: string;
  /** The key that the user named; null for the default one. */
  readonly keyFile: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly runId: string;
  readonly warn: (sentence: string) => void;
}

/** The sandbox for later checks of a task, by the rules that were saved with it. */
export interface LaterSandbox {
  /** Rejects with a `SandboxError` if the sandbox is known to be unavailable; does not open it. */
  require(cwd: string): Promise<void>;
  /** Opens the sandbox for a folder, unless it is open; null if checks run outside. Rejects with a `SandboxError`. */
  open(cwd: string): Promise<Sandbox | null>;
  /** Warns about what the sandbox refused or found, and closes it. Call it last, when no process in it is alive. */
  close(): Promise<void>;
}

/** Creates the sandbox for later checks. Import this file only for a task with a sandbox. */
export function createLaterSandbox(checks: LaterChecks): LaterSandbox {
  const { env, runId, warn } = checks;
  const opened = new Map<string, Promise<Sandbox>>();
  return {
    require: (cwd) => requireSandbox(cwd, env, new AbortController().signal),
    open(cwd) {
      const known = opened.get(cwd);
      if (known !== undefined) return known;
      const sandbox = openSandbox({ ...laterRequest(checks, cwd), runId, warn });
      opened.set(cwd, sandbox);
      return sandbox;
    },
    async close() {
      for (const opening of opened.values()) {
        const sandbox = await opening.catch(() => null);
        const met = (await sandbox?.takeMet()) ?? null;
        if (met !== null) metLines(withinBounds(met, sandbox?.rules ?? null)).forEach(warn);
        await sandbox?.close();
      }
    },
  };
}

type LaterFacts = Omit<LaterChecks, 'runId' | 'warn'>;

function laterRequest(
  { state, stored, vault, stateDir, keyFile, env }: LaterFacts,
  cwd: string,
): SandboxRequest {
  return {
    ...{ cwd, vault, stateDir, keyFile, env },
    doneFolder: path.resolve(vault, state.done_folder === '' ? 'Done' : state.done_folder),
    fixed: [],
    agents: storedPolicy(state, stored).agents,
    asked: askedFrom(stored),
  };
}

/** Returns the paths that an ended task's sandbox kept its agent from writing. Rejects with a `SandboxError`. */
export function deniedLater(facts: LaterFacts, cwd: string): Promise<readonly string[]> {
  return deniedBy(laterRequest(facts, cwd));
}

/** Returns the rules that the user asked for. Their paths are relative to where the task began, not to a checkout. */
function askedFrom(stored: StoredRun): AskedRules {
  const { startDir, settings } = stored;
  const from = path.resolve(startDir, settings.cwd ?? '.');
  const place = (rule: SandboxRule): SandboxRule =>
    rule.value.startsWith('~') ? rule : { ...rule, value: path.resolve(from, rule.value) };
  const asked = askedRules(stored);
  return {
    ...asked,
    allowWrite: asked.allowWrite.map(place),
    denyRead: asked.denyRead.map(place),
    allowRead: asked.allowRead.map(place),
  };
}

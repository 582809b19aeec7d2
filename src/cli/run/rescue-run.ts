import { existsSync } from 'node:fs';
import path from 'node:path';
import { requireStart } from '../../compose/before-start.ts';
import { type OrchestrateOptions, orchestrate } from '../../compose/rescue/orchestrate.ts';
import type { PlannedTask } from '../../compose/rescue/shared-runs.ts';
import { isInRepository } from '../../compose/work-tree-hold.ts';
import { rulesForAll } from '../../core/agent/agents/agents.ts';
import { conditionSettings } from '../../core/completion/conditions/conditions.ts';
import { RESCUE_PROMISE, rescuePrompt } from '../../core/rescue/rescue-prompt.ts';
import type { VaultCommand, VaultLayer } from '../../core/settings/rescue-settings.ts';
import { defaultsOf } from '../../core/settings/resolve-settings.ts';
import type { FlagRow } from '../../core/settings/rows/setting-row.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, type Settings, settingsWith } from '../../core/settings/settings.ts';
import { sharingProblems } from '../../core/settings/settings-problems.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import { UsageError } from '../../errors.ts';
import { worksOn } from '../../printed-command.ts';
import { tasksShareTree } from '../../report/notices.ts';
import { vaultLine } from '../../report/screens/vault-line.ts';
import type { TaskRequest, VaultPorts } from '../../rescue/ports.ts';
import { outputFlags, type ReadFlags } from '../flags/flags.ts';
import { type ReadVaultFlags, settleVault, type VaultSettings } from '../flags/rescue-flags.ts';
import { collectSettings } from '../settings/collect.ts';
import { sayPowers } from '../settings/found-config.ts';
import { isFound, startFolder } from '../tasks/named-folders.ts';
import { personAt } from '../terminal/ask-person.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { say } from '../terminal/outlet.ts';
import { planAskedResume } from './plan-resume.ts';
import { viewOf } from './prefixed-view.ts';
import { announcements, planWarnings } from './run-notices.ts';

/** What `ralph rescue` or `ralph watch` needs for a pass: handling the task files of a vault (a folder) once. */
export interface VaultRun {
  readonly ports: VaultPorts & { readonly close: () => void };
  readonly settings: VaultSettings;
  readonly say: (sentence: string) => void;
}

/** Checks the settings, and creates what a pass over the vault works with. Rejects with a `UsageError`. */
export async function openVault(read: ReadVaultFlags, name: VaultCommand): Promise<VaultRun> {
  const startDir = startFolder();
  const said = new Set<string>();
  const base: Base = { read, startDir, said };
  const { plan, notices, vault } = await planOf(base, {}, `ralph ${name}`);
  worksOn(plan, isFound);
  if (!existsSync(plan.vault)) {
    throw new UsageError([
      `ralph ${name} expects a vault; there is no folder ${plan.vault}. Check --vault, or create one with ralph init.`,
    ]);
  }
  const { settings } = plan;
  const own = settleVault(read.own, vault);
  const { notices: outlook } = await requireStart({ plan, isNew: own.startNew, said });
  const sayUnlessQuiet = settings.quiet ? (): void => {} : say;
  for (const notice of [...notices, ...planWarnings(plan), ...outlook]) {
    said.add(notice);
    sayUnlessQuiet(oneLine(notice, 2_000));
  }
  if (name === 'watch' && own.concurrency > 1 && !settings.worktree) {
    const problems = sharingProblems(plan);
    if (problems.length > 0) throw new UsageError(problems);
    if (isInRepository(plan.cwd)) sayUnlessQuiet(tasksShareTree(own.concurrency, plan.cwd));
  }
  const printed = new Map<string, string>();
  const options: OrchestrateOptions = {
    plan,
    prepare: async (request) => ({ ...(await prepare(request, plan, base)), said }),
    endedByBugs,
    warn: sayUnlessQuiet,
    report(file, outcome) {
      const line = vaultLine(file, outcome);
      // A line that differs only in its age is not printed again.
      const ageless = line?.replace(/ \S+ ago$/, '') ?? '';
      const key = `${file.folder}/${file.name}`;
      if (line === null || printed.get(key) === ageless) return;
      printed.set(key, ageless);
      process.stdout.write(`${line}\n`);
    },
  };
  return { ports: orchestrate(options), settings: own, say: sayUnlessQuiet };
}

interface Base {
  readonly read: ReadVaultFlags;
  readonly startDir: string;
  /** Sentences already printed, which are not printed again for the next task. */
  readonly said: Set<string>;
}

async function prepare(request: TaskRequest, first: RunPlan, base: Base): Promise<PlannedTask> {
  const { policy } = first;
  // How much is shown is up to this pass, also of a task that was started otherwise.
  const { quiet, verbose } = first.settings;
  const viewed = (plan: RunPlan) => {
    const shown = { ...plan, settings: { ...plan.settings, quiet, verbose } };
    return { plan, view: viewOf(request.taskId, shown) };
  };
  if (request.kind === 'resume') {
    const flags = { ...flagsOfNow(base.read.flags), isTrusted: false };
    const planned = await planAskedResume(request.taskId, first, flags, { allowed: first });
    if (planned === null) throw new Error(`${request.taskId} is already completed`);
    const { powers, isUntold, ...run } = planned;
    sayNewPowers(powers, base);
    // If the task ended without an announcement, this run only announces that. The next pass decides about the file.
    const resume = { ...run.resume, announcesOnly: isUntold };
    return { ...run, ...viewed(run.plan), resume };
  }
  const { file } = request;
  const where = `${file.folder}/${file.name}`;
  const written = (value: string): Written => ({ value, source: { kind: 'flag', where } });
  const asked = { taskFile: written(path.join(first.vault, file.folder, file.name)) };
  if (request.kind === 'start-new') {
    const { plan } = await planOf(base, asked, where);
    return { ...viewed(plan), announcements: news(plan, base) };
  }
  const prompt = rescuePrompt(
    { name: file.name, text: file.text ?? '', stuckForMs: request.stuckForMs },
    rulesForAll(policy.agents),
  );
  const layer = {
    ...asked,
    taskId: written(request.taskId),
    promise: written(RESCUE_PROMISE),
  };
  const { plan } = await planOf(base, layer, where, new TextEncoder().encode(prompt));
  return { ...viewed(plan), announcements: news(plan, base) };
}

/** Prints only new sentences about the configuration, which a person may edit and trust during `ralph watch`. */
function sayNewPowers(powers: readonly string[], { said }: Base): void {
  sayPowers(powers.filter((sentence) => !said.has(sentence)));
  for (const sentence of powers) said.add(sentence);
}

function news(plan: RunPlan, { said }: Base): readonly string[] {
  return announcements(plan).filter((sentence) => !said.has(sentence));
}

interface PlannedFile {
  readonly plan: RunPlan;
  readonly notices: readonly string[];
  /** The configuration's settings that only `ralph rescue` and `ralph watch` have. */
  readonly vault: VaultLayer;
}

/** Plans the run of one file; without a file, only checks the settings. Rejects with a `UsageError`. */
async function planOf(
  base: Base,
  ofFile: Layer,
  where: string,
  prompt?: Uint8Array,
): Promise<PlannedFile> {
  const { read, startDir } = base;
  const { flags, env } = read;
  const isAlone = ofFile.taskFile === undefined;
  const collected = await collectSettings({
    flags: { ...flags.layer, ...ofFile },
    env,
    startDir,
    // Asks only before the first file, since a question would block running tasks.
    ask: isAlone ? personAt(env) : null,
  });
  const { settings, sources } = collected;
  const isRescue = prompt !== undefined;
  const isGiven = sources.maxWait.kind !== 'default';
  const source = { kind: 'default' as const, where };
  const request = {
    ...collected,
    settings: {
      ...settings,
      // Variables or a configuration may set what makes no sense for several tasks.
      ...defaultsOf(settingsWith({ rescue: 'off' })),
      // A waiting task would delay all others; the next pass resumes it.
      noWait: true,
      maxWait: isGiven ? settings.maxWait : 0,
      ...(isRescue ? onlyPromise() : {}),
      ...(isAlone ? { taskFile: null, taskId: null } : {}),
    },
    sources: isGiven ? sources : { ...sources, maxWait: source },
    passthrough: flags.passthrough,
    startDir,
    env,
    newTaskId: () => 'task',
    ...(isAlone ? { keptPrompt: new TextEncoder().encode('task') } : {}),
    ...(isRescue ? { keptPrompt: prompt } : {}),
  };
  const problems = [...(isAlone ? read.problems : []), ...collected.problems];
  const plan = await requirePlan(request, problems, collected.notices);
  sayNewPowers(collected.powers, base);
  return { plan, notices: collected.notices, vault: collected.vault };
}

/** Returns settings by which only the promise (the agent's words for "done") or a moved file completes a rescue. */
function onlyPromise(): Partial<Settings> {
  const others = conditionSettings().filter((name) => name !== 'promise');
  return Object.fromEntries(others.map((name) => [name, emptyOf(SETTINGS[name].type)]));
}

function emptyOf({ kind }: FlagRow['type']): [] | false | null {
  if (kind === 'texts') return [];
  return kind === 'switch' ? false : null;
}

function flagsOfNow(flags: ReadFlags): ReadFlags {
  const noWait: Written = { value: true, source: { kind: 'flag', where: '--no-wait' } };
  const { layer, ...others } = outputFlags(flags);
  return { ...others, layer: { ...layer, noWait } };
}

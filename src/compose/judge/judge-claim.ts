import { NO_USAGE } from '../../core/agent/attempt.ts';
import type { JudgeAnswer, ToJudge } from '../../core/completion/examination.ts';
import { criteriaOf } from '../../core/judge/criteria.ts';
import { type Judge, judgeBin } from '../../core/settings/judge-setting.ts';
import { sha256Of } from '../../effects/files/file-hash.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { SignalWatch } from '../../effects/processes/signals.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';
import { type JudgedClaim, judgeTree } from './judging.ts';

/** A task whose agent says that it is complete (a claim), which a second agent judges. */
interface JudgedTask extends Pick<JudgedClaim, 'kindOf' | 'iteration'> {
  readonly run: {
    readonly plan: RunPlan;
    readonly paths: { readonly folder: string; readonly stateFile: string };
    readonly stops: SignalWatch;
    readonly warn: (sentence: string) => void;
  };
  /** Null if the task has no snapshots. */
  readonly keeper: TreeKeeper | null;
  readonly sandbox: Sandbox | null;
}

/** Lets a run's judge examine the files of the claim, or returns its earlier verdict on exactly these files. */
export async function judgeClaim(task: JudgedTask, told: ToJudge): Promise<JudgeAnswer> {
  const { run, keeper, iteration, kindOf } = task;
  const { plan, paths, stops, warn } = run;
  const { judge } = plan.policy;
  if (judge === null) throw new Error('the run has no judge');
  // Files that a check has written belong to the claim, so a snapshot is taken after the checks.
  await keeper?.keepChecked(iteration);
  const tree = keeper?.isWorking === true ? (keeper.store.newest?.tree ?? null) : null;
  const start = keeper?.start ?? null;
  if (keeper === null || tree === null || start === null) {
    const why = `there is no snapshot of the ${tree === null ? 'claim' : 'start'}`;
    const verdict = { ...judge, tree, verdict: 'none', why, criteria: [], cost_usd: 0 } as const;
    return { verdict, calls: 0, usage: NO_USAGE, trouble: { kind: 'no-verdict' } };
  }
  const { known } = told;
  const key = judgeKey(judge, plan);
  if (known !== null && known.verdict.tree === tree && known.key === key) {
    return { ...known, calls: 0, usage: NO_USAGE, trouble: null };
  }
  const head = keeper.store.head?.commit ?? null;
  const answer = await judgeTree(
    {
      ...{ plan, judge, git: keeper.git, start, tree, head, iteration, kindOf },
      ...{ folder: paths.folder, stateFile: paths.stateFile, stops, warn },
      sandbox: task.sandbox,
    },
    told,
  );
  return { ...answer, key };
}

/** Returns a hash of the judge and its criteria: an earlier verdict may be used again only if the hash is the same. */
export function judgeKey(
  judge: Judge,
  { settings, policy, startDir }: Pick<RunPlan, 'settings' | 'policy' | 'startDir'>,
): string {
  const { agent, model } = judge;
  const bin = judgeBin(judge, settings.agentBin, policy.agents);
  const command = agent === 'command' ? settings.judgeCommand : null;
  const texts = criteriaOf(settings.criterion).map(({ text }) => text);
  const parts = [agent, model, bin, command, startDir, texts];
  return sha256Of(JSON.stringify(parts));
}

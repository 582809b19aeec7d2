import { randomInt, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AGENTS } from '../../core/agent/agents/agents.ts';
import {
  type AttemptFacts,
  addUsage,
  NO_USAGE,
  type Usage,
  usageOfAttempt,
} from '../../core/agent/attempt.ts';
import { classify } from '../../core/agent/classify.ts';
import { describeOutcome, type Outcome } from '../../core/agent/outcome.ts';
import type { JudgeAnswer, JudgeTrouble, ToJudge } from '../../core/completion/examination.ts';
import { type Criterion, criteriaOf } from '../../core/judge/criteria.ts';
import { instructionsOfStart } from '../../core/judge/instructing-files.ts';
import { type CitedCriterion, readAnswer } from '../../core/judge/read-answer.ts';
import { type JudgeVerdict, verdictOf } from '../../core/judge/verdict.ts';
import { weigh } from '../../core/judge/weigh.ts';
import { type JudgePrompt, judgePrompt } from '../../core/prompt/judge-prompt.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { Judge } from '../../core/settings/judge-setting.ts';
import { limitsOf } from '../../core/supervisor/signs.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import type { AgentKind } from '../../effects/agents/agent.ts';
import { createAgentRunner } from '../../effects/agents/agent-runner.ts';
import { GUARD_PROGRAM } from '../../effects/agents/kept-guard.ts';
import {
  checkoutFolder,
  type FreshCheckout,
  makeFreshCheckout,
} from '../../effects/branches/fresh-checkout.ts';
import { realPath } from '../../effects/files/real-path.ts';
import type { PrivateGit } from '../../effects/git/private-git.ts';
import { asText } from '../../effects/git/tree-path.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { SignalWatch } from '../../effects/processes/signals.ts';
import { type CheckPlace, placeIn } from '../../effects/proof/check-place.ts';
import { filesWithDiffs, lookIn } from '../../effects/proof/judged-tree.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import { listTree } from '../../effects/snapshots/tree-files.ts';
import { messageOf } from '../../errors.ts';
import { inCheckout } from '../sandbox/confined-to.ts';
import { type JudgeKindOptions, judgeKind } from './judge-kind.ts';

type JudgedPlan = JudgeKindOptions['plan'] & Pick<RunPlan, 'taskId' | 'prompt' | 'cwd'>;

/** A tree to judge, and everything that its judge needs. */
export interface JudgedClaim {
  readonly plan: JudgedPlan;
  readonly judge: Judge;
  readonly git: PrivateGit;
  /** The tree at the start of the task. */
  readonly start: string;
  readonly tree: string;
  /** The commit to which the checkout's HEAD is set; null if there is no commit yet. */
  readonly head: string | null;
  /** The folder in which the logs of the calls are kept: the task's own, or a temporary one. */
  readonly folder: string;
  readonly iteration: number;
  readonly stateFile: string;
  readonly stops: SignalWatch;
  readonly sandbox: Sandbox | null;
  readonly kindOf: JudgeKindOptions['kindOf'];
  readonly warn: (sentence: string) => void;
}

const CALLS_AT_MOST = 2;

/** Lets a judge examine a tree in a checkout; files that instruct agents are there as at the start. Never rejects. */
export async function judgeTree(claim: JudgedClaim, told: ToJudge): Promise<JudgeAnswer> {
  const { judge, tree } = claim;
  const about = { agent: judge.agent, model: judge.model, tree };
  const spent: Spent = { calls: 0, usage: NO_USAGE };
  try {
    return await judgeInCheckout(claim, told, spent);
  } catch (error) {
    const why = oneLine(maskSecrets(`it could not be asked: ${messageOf(error)}`), 500);
    return noVerdict(about, why, { kind: 'no-verdict' }, { ...spent });
  }
}

/** What the calls of a judge have used so far. This is reported even if a later step fails. */
interface Spent {
  calls: number;
  usage: Usage;
}

async function judgeInCheckout(
  claim: JudgedClaim,
  told: ToJudge,
  spent: Spent,
): Promise<JudgeAnswer> {
  const { plan, git, start, tree, head } = claim;
  const [ofStart, claimed] = [await listTree(git, start), await listTree(git, tree)];
  const changes = instructionsOfStart(ofStart, claimed);
  const checkout = await makeFreshCheckout({
    ...{ git, head, tree },
    folder: await checkoutFolder(git, `${plan.taskId}.judge`),
    changes,
  });
  try {
    const below = path.relative(git.repository.root, realPath(plan.cwd));
    const place = placeIn(checkout, below);
    const question = {
      ...told,
      task: new TextDecoder().decode(plan.prompt),
      criteria: criteriaOf(plan.settings.criterion),
      files: await filesWithDiffs(git, start, tree),
      putBack: [...changes.keys()].map(asText),
    };
    return await askTwice({ ...claim, place, below, claimed }, question, { ...told, spent });
  } finally {
    removeOrWarn(checkout, claim.warn);
  }
}

/** Removes a checkout. If that fails, it only warns: a verdict that was paid for must not be lost. */
function removeOrWarn(
  { remove, folder }: Pick<FreshCheckout, 'remove' | 'folder'>,
  warn: (sentence: string) => void,
): void {
  try {
    remove();
  } catch (error) {
    warn(`The checkout of the judge stays in ${folder}: ${messageOf(error)}`);
  }
}

interface PlacedClaim extends JudgedClaim {
  readonly place: CheckPlace;
  readonly below: string;
  readonly claimed: Awaited<ReturnType<typeof listTree>>;
}

type Question = Omit<JudgePrompt, 'nonce' | 'wrong'>;

async function askTwice(
  claim: PlacedClaim,
  question: Question,
  { taskDeadlineAt, spent }: ToJudge & { readonly spent: Spent },
): Promise<JudgeAnswer> {
  const { judge, tree } = claim;
  const about = { agent: judge.agent, model: judge.model, tree };
  let wrong: string | null = null;
  for (let call = 1; ; call += 1) {
    const nonce = newNonce();
    const prompt = judgePrompt({ ...question, nonce, wrong }, AGENTS[judge.agent]);
    const facts = await runJudge(claim, prompt, { call, taskDeadlineAt });
    spent.calls = call;
    spent.usage = addUsage(spent.usage, usageOfAttempt(facts, null));
    const answer = readFacts(facts, claim, { criteria: question.criteria, nonce });
    const asked = { ...spent };
    if (answer.kind === 'read') {
      const criteria = weigh(answer.criteria, {
        roots: [claim.place.folder, realPath(claim.place.folder)],
        below: claim.below,
        look: await lookIn(claim.git, claim.claimed, answer.criteria, claim),
      });
      const verdict = { ...about, verdict: verdictOf(criteria), why: null, criteria };
      return { verdict: { ...verdict, cost_usd: asked.usage.cost_usd }, ...asked, trouble: null };
    }
    const { why, trouble, isFinal } = answer;
    if (isFinal || call === CALLS_AT_MOST || claim.stops.signal.aborted) {
      return noVerdict(about, why, trouble, asked);
    }
    wrong = why;
  }
}

/** What is wrong with an answer, and whether asking again is useless. */
interface Unread {
  readonly kind: 'none';
  readonly why: string;
  readonly trouble: JudgeTrouble;
  readonly isFinal: boolean;
}

function readFacts(
  facts: AttemptFacts,
  { judge }: JudgedClaim,
  asked: { readonly criteria: readonly Criterion[]; readonly nonce: string },
): { readonly kind: 'read'; readonly criteria: readonly CitedCriterion[] } | Unread {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
  const now = new Date().toISOString();
  const outcome = classify(facts, AGENTS[judge.agent], now, { timeZone });
  if (outcome.kind !== 'answered') {
    const { trouble, isFinal } = troubleOf(outcome);
    return { kind: 'none', why: describeOutcome(outcome), trouble, isFinal };
  }
  const given = { structured: facts.structuredOutput ?? null, message: facts.finalMessage };
  const answer = readAnswer(given, asked);
  if (answer.kind === 'read') return answer;
  return { ...answer, trouble: { kind: 'no-verdict' }, isFinal: false };
}

/** Returns what kept the judge from answering. Asking again does not help after a limit, a failed login or a stop. */
function troubleOf(outcome: Outcome): Pick<Unread, 'trouble' | 'isFinal'> {
  switch (outcome.kind) {
    case 'stopped':
      return { trouble: { kind: 'stopped' }, isFinal: true };
    case 'usage-limited':
      return { trouble: { kind: 'usage-limited', until: outcome.resetsAt }, isFinal: true };
    case 'fatal':
      return { trouble: { kind: 'fatal', cause: outcome.cause }, isFinal: true };
    case 'transient':
      return { trouble: { kind: 'outage' }, isFinal: false };
    case 'timed-out':
      return { trouble: { kind: 'no-verdict' }, isFinal: outcome.limit === 'task' };
    default:
      return { trouble: { kind: 'no-verdict' }, isFinal: false };
  }
}

const TROUBLES: Readonly<Record<JudgeTrouble['kind'], string>> = {
  'no-verdict': 'gave no verdict',
  stopped: 'was stopped',
  'usage-limited': 'has reached its usage limit',
  outage: 'does not answer',
  fatal: 'cannot judge',
};

function noVerdict(
  about: Pick<JudgeVerdict, 'agent' | 'model' | 'tree'>,
  why: string,
  trouble: JudgeTrouble,
  asked: Pick<JudgeAnswer, 'calls' | 'usage'>,
): JudgeAnswer {
  const isLogin = trouble.kind === 'fatal' && trouble.cause === 'not-logged-in';
  const what = isLogin ? 'is not logged in' : TROUBLES[trouble.kind];
  const clause = oneLine(maskSecrets(`${about.agent} ${what} (${why})`), 600);
  const verdict = { ...about, verdict: 'none', why: clause, criteria: [] } as const;
  return { verdict: { ...verdict, cost_usd: asked.usage.cost_usd }, ...asked, trouble };
}

/** Returns a code that the judge's answer must repeat. It is random, so no file can contain a ready answer. */
function newNonce(): string {
  return `verdict-${Array.from({ length: 3 }, () => randomInt(36 ** 4).toString(36)).join('')}`;
}

async function runJudge(
  claim: PlacedClaim,
  prompt: string,
  { call, taskDeadlineAt }: { readonly call: number; readonly taskDeadlineAt: string },
): Promise<AttemptFacts> {
  const { plan, judge, place, iteration, stops, warn } = claim;
  const { policy } = plan;
  const logDir = path.join(claim.folder, 'judge');
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const kind = kindIn(claim);
  const runner = createAgentRunner({
    kindOf: () => kind,
    cwd: place.cwd,
    sandbox: claim.sandbox === null ? null : inCheckout(claim.sandbox, place),
    env: {
      ...plan.env,
      ...AGENTS[judge.agent].judging?.variables?.(plan.env),
      TMPDIR: place.temporary,
    },
    // The judge gets a run id of its own, by which its processes can be ended without those of the run.
    runId: randomUUID(),
    taskId: plan.taskId,
    maxIterations: policy.maxIterations,
    stateFile: claim.stateFile,
    notesAgents: false,
    logDir,
    iterationTimeoutMs: policy.iterationTimeoutMs,
    idleTimeoutMs: policy.idleTimeoutMs,
    guardProgram: GUARD_PROGRAM,
    keepBackground: false,
    logLimitBytes: plan.settings.logLimit,
    onLeftovers: () => {},
    warn,
  });
  try {
    return await runner.run({
      agent: judge.agent,
      prompt: new TextEncoder().encode(prompt),
      ...{ iteration, attempt: call, taskDeadlineAt, stops },
      resumeSession: null,
      budgetUsd: null,
      limits: limitsOf(policy, judge.agent, null),
      listener: { activity() {}, retry() {}, text() {}, found() {}, silentTool() {} },
    });
  } finally {
    await runner.close(stops.hurry);
    runner.dismissGuard();
  }
}

function kindIn({ plan, judge, place, sandbox, kindOf }: PlacedClaim): AgentKind {
  const schemaFile = path.join(place.temporary, 'verdict-schema.json');
  return judgeKind({
    ...{ plan, judge, kindOf, cwd: place.cwd, inSandbox: sandbox !== null },
    schemaFile(schema) {
      writeFileSync(schemaFile, schema);
      return schemaFile;
    },
  });
}

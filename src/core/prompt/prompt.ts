import { AGENTS } from '../agent/agents/agents.ts';
import type { MetInSandbox, RefusedTool } from '../agent/attempt.ts';
import type { CountedOutcome } from '../agent/outcome.ts';
import { describeSign, type SignName } from '../agent/sign.ts';
import { type DoubtfulPlace, PLACES } from '../completion/back-question.ts';
import type { CheckResult } from '../completion/check-result.ts';
import type { CommandResult } from '../completion/command-result.ts';
import { describeCompletion } from '../completion/conditions/conditions.ts';
import type { Blocker } from '../completion/gates.ts';
import type { PromptText } from '../completion/promise.ts';
import type { Policy } from '../task/policy.ts';
import {
  disarm,
  type MaterialRules,
  materialBlock,
  materialLine,
  oneLine,
  tailOf,
  withoutControls,
} from '../text/untrusted-text.ts';
import { excerpts, OUTPUT_ROOM } from './excerpts.ts';
import {
  checkName,
  describeFailedChecks,
  describeFailure,
  describeHold,
  hasWords,
} from './held-claim.ts';
import { type Hint, newestHints, type PromptHints } from './hints.ts';
import { sandboxNote } from './sandbox-note.ts';

/** What the next prompt says about the previous iteration. */
export interface Handover {
  /** The final message, or the output up to the point where the iteration was cut; null if there is none. */
  readonly output: string | null;
  readonly wasCut: boolean;
  readonly missing: readonly Missing[];
  /** The hints that the prompt contains. */
  readonly hints: readonly Hint[];
  /** The checks that failed before the first iteration; absent if none did, or if they were not run then. */
  readonly failedAtStart?: readonly FailedAtStart[];
}

type FailedAtStart = Pick<CheckResult, 'name' | 'command' | 'failed'>;

/** Why the iteration did not complete the task. Each becomes one sentence of the reminder. */
export type Missing =
  | { readonly kind: 'near-miss'; readonly line: string; readonly why: string }
  /** `hasReplied`: the agent was asked whether it is done, and its reply did not state the promise. */
  | {
      readonly kind: 'in-doubt';
      readonly line: string;
      readonly where: DoubtfulPlace;
      readonly hasReplied: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly tools: readonly RefusedTool[];
      readonly held: boolean;
      readonly failed: readonly CheckResult[];
    }
  /** The sandbox refused these hosts. */
  | { readonly kind: 'refused-hosts'; readonly hosts: MetInSandbox['refused'] }
  | { readonly kind: 'held'; readonly held: Exclude<Blocker, { gate: 'refused-tools' }> }
  /** Checks failed after an iteration that claimed nothing, or whose claim another gate held. */
  | { readonly kind: 'checks-failed'; readonly failed: readonly CheckResult[] }
  /** The command of `--until` failed. */
  | { readonly kind: 'until'; readonly result: CommandResult }
  | { readonly kind: 'not-ended-well'; readonly outcome: CountedOutcome }
  /** `output` is what a hook or git said. */
  | { readonly kind: 'not-committed'; readonly why: string; readonly output: string }
  /** The changes of an iteration were taken back; `why` is absent if it was cut. */
  | {
      readonly kind: 'reverted';
      readonly why?: 'checks';
      readonly files: number;
      readonly kept: readonly string[];
      readonly diff: string;
    }
  | { readonly kind: 'question' }
  | { readonly kind: 'malformed-request' }
  /** A person's answer to an approval request. */
  | {
      readonly kind: 'decision';
      readonly id: string;
      readonly what: string;
      readonly decision: 'approved' | 'rejected';
      readonly reason: string | null;
    };

export const EMPTY_HANDOVER: Handover = { output: null, wasCut: false, missing: [], hints: [] };

/**
 * Builds the text that ralph appends to the user's prompt. The user's prompt stays first and unchanged, so
 * that the agent's prompt cache works; the protocol note comes last and is always the same.
 */
export function buildAddition(policy: Policy, carry: Handover, iteration: number): string {
  return ['', ...promptTexts(policy, carry, iteration).map(({ text }) => text)]
    .join('\n\n')
    .concat('\n');
}

/**
 * Returns the parts of that text one by one, since an echo of a part is not a statement of the promise.
 * Earlier output is an echo only as a whole, since the agent may truthfully repeat a part of it.
 */
export function promptTexts(
  policy: Policy,
  carry: Handover,
  iteration: number,
): readonly PromptText[] {
  const texts: PromptText[] = [];
  if (iteration > 1) {
    const block = contextBlock(policy, carry);
    if (block !== null) texts.push({ kind: 'whole', text: block });
    texts.push(...outputBlocks(policy, carry));
    texts.push(...unprovenHints(policy, toldHints(policy, carry)));
    texts.push({ kind: 'sentence-wise', text: reminder(policy, carry) });
  } else {
    // A person has approved the start of the task, or a hint arrived before a retry of the first iteration.
    const decisions = carry.missing.filter(({ kind }) => kind === 'decision');
    const hints = toldHints(policy, carry);
    const said = [
      ...decisions.map((each) => describeMissing(each, policy)),
      ...startLines(policy, carry),
      ...hintLines(hints),
    ];
    texts.push(...unprovenHints(policy, hints));
    if (said.length > 0) texts.push({ kind: 'sentence-wise', text: said.join('\n') });
  }
  const { inSandbox } = policy;
  if (inSandbox !== null) {
    texts.push({ kind: 'sentence-wise', text: sandboxNote(inSandbox.rules, rulesFor(policy)) });
  }
  texts.push({ kind: 'sentence-wise', text: protocolNote(policy) });
  return texts;
}

function contextBlock(policy: Policy, carry: Handover): string | null {
  if (policy.context === 'none' || carry.output === null) return null;
  // Clean before cutting: half an escape sequence would not be recognised.
  const output = withoutControls(carry.output);
  if (output.trim() === '') return null;
  const kept = tailOf(output, policy.contextChars);
  const left = output.length - kept.length;
  const cut = left > 0 ? [`[the first ${left} characters are left out]`] : [];
  const title = carry.wasCut
    ? 'what the previous iteration wrote before it was cut off'
    : 'the output of the previous iteration';
  return materialBlock(title, [...cut, kept].join('\n'), rulesFor(policy));
}

function reminder(policy: Policy, carry: Handover): string {
  // An agent that is to check its claim must not be told to continue in the same prompt.
  const mustCheck = carry.missing.some(
    (missing) => missing.kind === 'held' && missing.held.gate === 'confirm',
  );
  const lines = [
    mustCheck
      ? `The task is NOT yet confirmed. Please check and ensure ${describeCompletion(policy)}.`
      : `The task is NOT yet complete. Please continue and ensure ${describeCompletion(policy)}.`,
    ...carry.missing.map((missing) => describeMissing(missing, policy)),
    ...startLines(policy, carry),
    ...hintLines(toldHints(policy, carry)),
  ];
  return lines.join('\n');
}

/** Returns the hints for the prompt. Together they get as much room as the earlier output. */
function toldHints(policy: Policy, carry: Handover): PromptHints {
  const hints = carry.hints.map((hint) => ({ ...hint, text: withoutControls(hint.text).trim() }));
  return newestHints(hints, policy.contextChars);
}

function hintLines({ told, leftOut }: PromptHints): readonly string[] {
  const lines = told
    .filter(({ isProven }) => isProven)
    .map(({ text }) => `The person you work for adds: ${text}`);
  if (leftOut === 0) return lines;
  return [
    `More was left for you to read than has room here: ${leftOut} characters are left out, the oldest first.`,
    ...lines,
  ];
}

/** Anybody could have written these hints, so the prompt marks them as data. */
function unprovenHints(policy: Policy, { told }: PromptHints): readonly PromptText[] {
  const unproven = told.filter(({ isProven }) => !isProven).map(({ text }) => text);
  if (unproven.length === 0) return [];
  const title = 'notes that somebody left for you; nobody can tell who';
  return [{ kind: 'whole', text: materialBlock(title, unproven.join('\n\n'), rulesFor(policy)) }];
}

/** More tests than these are not named. */
const MOST_TESTS = 20;

/** Tells the agent what it did not break. */
function startLines(policy: Policy, { failedAtStart = [] }: Handover): readonly string[] {
  if (failedAtStart.length === 0) return [];
  const rules = rulesFor(policy);
  const checks = failedAtStart.map((check) => {
    const names = check.failed ?? [];
    const more = names.length - MOST_TESTS;
    const tests = [
      ...names.slice(0, MOST_TESTS).map((name) => materialLine(name, rules)),
      ...(more > 0 ? [`${more} more`] : []),
    ];
    const which = tests.length === 0 ? '' : `, with these tests: ${tests.join(', ')}`;
    return `${checkName(check, rules)}${which}`;
  });
  const rule =
    policy.knownFailures === 'allow'
      ? ' A test that failed then may still fail; no other one may.'
      : '';
  return [`These checks failed before you began: ${checks.join('; ')}.${rule}`];
}

/** The longest reason of a person that the prompt repeats, in UTF-16 code units. */
const LONGEST_REASON = 1_000;

/** Tells the agent in a few words what kept the task from being complete. */
export function describeMissing(missing: Missing, policy: Policy): string {
  const rules = rulesFor(policy);
  switch (missing.kind) {
    case 'near-miss':
      return `Your last message mentioned the promise without stating it (${missing.why.replaceAll('-', ' ')}): "${materialLine(missing.line, rules)}". A mention does not count.`;
    case 'in-doubt':
      return `Your last message stated the promise ${PLACES[missing.where]}: "${materialLine(missing.line, rules)}". ${
        missing.hasReplied
          ? 'Asked whether the task is complete, you did not state it: mend first what you said is missing. '
          : ''
      }When the task is truly complete, state it as the last line of your final message.`;
    case 'refused':
      return `${
        missing.held
          ? 'Your statement that the task is complete was not accepted, because these tools were refused'
          : 'These tools were refused'
      }: ${missing.tools
        .slice(0, 10)
        .map(({ tool, target }) =>
          materialLine(target === '' ? tool : `${tool} (${target})`, rules),
        )
        .join(
          '; ',
        )}. Only the person who started this can allow them, by --allowed-tools or --permission-mode: find another way, or say plainly what you need.`;
    case 'refused-hosts':
      return `The sandbox refused these hosts: ${missing.hosts
        .slice(0, 10)
        .map(({ host, port }) => materialLine(`${host}:${port}`, rules))
        .join(
          ', ',
        )}. Only the person who started this can allow them, by --allow-net: find another way without them, or say plainly what you need.`;
    case 'held':
      return describeHold(missing.held, rules);
    case 'checks-failed':
      return `After your previous iteration, ${describeFailedChecks(missing.failed, rules)}`;
    case 'until':
      return `The command that decides whether the task is complete ${describeFailure(missing.result)}: ${materialLine(missing.result.command, rules)}.${hasWords(missing.result) ? ' Its output stands above.' : ''}`;
    case 'not-ended-well':
      return describeBadEnd(missing.outcome, policy, rules);
    case 'not-committed':
      return `Your work is kept, but it could not be committed, because ${materialLine(missing.why, rules)}.${missing.output.trim() === '' ? '' : ' What was said stands above.'} Mend what kept it from being committed; do not commit by yourself.`;
    case 'reverted':
      return `What the previous iteration changed was taken back, since ${missing.why === 'checks' ? 'checks failed after it' : 'it was cut'}: ${missing.files === 1 ? 'one file is' : `${missing.files} files are`} as before it. The diff above shows what was taken back, so that you can go another way.${missing.kept.length === 0 ? '' : ` Somebody else changed these, so they stay as they are: ${materialLine(missing.kept.slice(0, 10).join(', '), rules)}.`}`;
    case 'decision':
      return missing.decision === 'approved'
        ? `A person has approved your request ${missing.id} (${materialLine(missing.what, rules)}): you may do it now.`
        : `A person has rejected your request ${missing.id} (${materialLine(missing.what, rules)})${missing.reason === null ? '' : `, because: ${oneLine(disarm(missing.reason, rules), LONGEST_REASON).replace(/\.+$/, '')}`}. Do not do it; find another way, or say plainly that it cannot be done without.`;
    case 'malformed-request':
      return 'You asked for an approval in a form that is not understood, so nobody was asked and nothing was allowed: write <approval id="short-id">what you want to do</approval>, the id in small letters, digits and dashes.';
    case 'question':
      return 'Your last message ended in a question. Nobody answers questions here: decide yourself and go on.';
  }
}

/** The output of one of the user's commands. */
export interface CommandOutput {
  readonly by: 'verify' | 'until' | 'commit' | 'setup';
  /** The name of the check, for `verify`; otherwise null. */
  readonly check: string | null;
  readonly output: string;
}

/** Returns the outputs, unless empty, of the user's commands that failed after the last iteration. */
export function failedOutputs(carry: Handover): readonly CommandOutput[] {
  return carry.missing.flatMap((missing): readonly CommandOutput[] => {
    if (missing.kind === 'not-committed') {
      return hasWords(missing) ? [{ by: 'commit', check: null, output: missing.output }] : [];
    }
    if (missing.kind === 'until') {
      const { result } = missing;
      return hasWords(result) ? [{ by: 'until', check: null, output: result.output }] : [];
    }
    const setup = missing.kind === 'held' && 'setup' in missing.held ? missing.held.setup : null;
    if (setup !== null) {
      return hasWords(setup) ? [{ by: 'setup', check: null, output: setup.output }] : [];
    }
    return checksIn(missing)
      .filter(hasWords)
      .map(({ name, output }) => ({ by: 'verify', check: name, output }));
  });
}

function checksIn(missing: Missing): readonly CheckResult[] {
  if (missing.kind === 'checks-failed' || missing.kind === 'refused') return missing.failed;
  return missing.kind === 'held' && 'failed' in missing.held ? missing.held.failed : [];
}

const TITLES = {
  until: 'the output of the command that decides whether the task is complete',
  commit: 'what kept your work from being committed',
  setup: 'what preparing a clean checkout printed',
} as const;

/** Marks the outputs as data, like all text that does not come from the user. */
function outputBlocks(policy: Policy, carry: Handover): readonly PromptText[] {
  const reverted = carry.missing.flatMap((missing) =>
    missing.kind === 'reverted' && missing.diff !== '' ? [missing.diff] : [],
  );
  const failed = failedOutputs(carry);
  const checks = failed.filter(({ by }) => by === 'verify');
  const shown = excerpts(
    checks.map(({ output }) => output),
    OUTPUT_ROOM,
  );
  const blocks = [
    ...checks.map(({ check }, at) => ({
      title: `the output of the check ${materialLine(check ?? '', rulesFor(policy))}`,
      output: shown[at] ?? '',
    })),
    ...failed.flatMap(({ by, output }) => {
      if (by === 'verify') return [];
      const texts = by === 'commit' ? [output] : excerpts([output], OUTPUT_ROOM);
      return texts.map((text) => ({ title: TITLES[by], output: text }));
    }),
    ...reverted.map((output) => ({ title: 'the changes that were taken back', output })),
  ];
  return blocks.map(({ title, output }) => ({
    kind: 'whole',
    text: materialBlock(title, output, rulesFor(policy)),
  }));
}

function describeBadEnd(outcome: CountedOutcome, policy: Policy, rules: MaterialRules): string {
  switch (outcome.kind) {
    case 'timed-out':
      return outcome.limit === 'idle'
        ? 'The previous iteration was ended because it was silent for too long. Work in steps that show progress.'
        : `The previous iteration was ended after its time limit of ${Math.round(policy.iterationTimeoutMs / 1000)} seconds. Work in smaller steps.`;
    case 'cut':
      return `The previous iteration was ended because ${materialLine(describeSign(outcome.by), rules)}. ${CUT_ADVICE[outcome.by.sign]}`;
    case 'bounded':
      return `The previous iteration was cut by its own ${outcome.by === 'max-turns' ? 'turn' : 'budget'} limit.`;
    case 'errored':
      return `The previous iteration failed: ${materialLine(outcome.message, rules)}`;
    case 'answered':
      return '';
  }
}

const REPEATED = 'Do not try that again: find out why it does not help, and go another way.';

const CUT_ADVICE: Readonly<Record<SignName, string>> = {
  'same-failing-call': REPEATED,
  'same-call': REPEATED,
  refused:
    'Nobody allows these calls: find a way without them, or say plainly in your final message what you need.',
  tokens: 'Work in smaller steps, and end your turn before you have used as many.',
  subagents: 'Start fewer of them, and do small steps yourself.',
  money: '',
};

/** Explains the loop to the agent. Stays under 900 characters, and is the same in every iteration. */
export function protocolNote(policy: Policy): string {
  const complete =
    policy.promise === null
      ? `The task counts as complete when ${describeCompletion(policy)}. Bring that about only when the work is truly done.`
      : `When the task is truly complete, and only then, write <promise>${policy.promise}</promise> as the last line of your final message, below a blank line, with nothing behind it. Never state it to get out of the loop: if something is missing or fails, say what, without the promise.`;
  return [
    'About this session: you run unattended, in a loop that starts you again until the task is complete.',
    complete,
    'Nobody answers questions: decide yourself. Work you leave in the background ends with your turn: wait for it to finish.',
    'Before a step that a person has to allow, end your message with <approval id="short-id">what you want to do</approval> and wait for the next turn.',
    'You may report progress: <progress done="2" total="5">what you do now</progress>.',
  ].join(' ');
}

/** The rules for quoting untrusted text to the agent of this policy. */
function rulesFor(policy: Policy): MaterialRules {
  return AGENTS[policy.agent];
}

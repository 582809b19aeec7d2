import { describeCompletion } from '../completion/conditions/conditions.ts';
import type { PromptText } from '../completion/promise.ts';
import type { Policy } from '../task/policy.ts';
import { materialBlock, materialLine, tailOf, withoutControls } from '../text/untrusted-text.ts';
import { describeMissing } from './describe-missing.ts';
import { outputBlocks } from './failed-outputs.ts';
import type { Handover } from './handover.ts';
import { checkName } from './held-claim.ts';
import { newestHints, type PromptHints } from './hints.ts';
import { rulesFor } from './material-rules.ts';
import { sandboxNote } from './sandbox-note.ts';
import { treeLines } from './tree-lines.ts';

/**
 * Builds the text that ralph appends to the user's prompt. The user's prompt stays first and unchanged, so
 * that the agent's prompt cache works; the protocol note (how the loop works) comes last and is always the same.
 */
export function buildAddition(policy: Policy, carry: Handover, iteration: number): string {
  return ['', ...promptTexts(policy, carry, iteration).map(({ text }) => text)]
    .join('\n\n')
    .concat('\n');
}

/**
 * Returns the parts of the text of `buildAddition` one by one: an agent that repeats (echoes) a part does not state
 * the promise (text for "done"). Earlier output is an echo only as a whole: the agent may truthfully repeat a part.
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
    // Even the first prompt can have news: a person has approved the start, or a hint arrived before a retry.
    const decisions = carry.missing.filter(({ kind }) => kind === 'decision');
    const hints = toldHints(policy, carry);
    const said = [
      ...decisions.map((each) => describeMissing(each, policy)),
      ...treeLines(policy, carry),
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
  // The output is cleaned before it is cut, since half an escape sequence would not be recognised.
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
  // An agent that has to check its claim must not be told in the same prompt to continue working.
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

/** Returns the hints for the prompt. All hints together get as much room as the previous iteration's output. */
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

/** Returns the hints that anybody could have written, marked as data. */
function unprovenHints(policy: Policy, { told }: PromptHints): readonly PromptText[] {
  const unproven = told.filter(({ isProven }) => !isProven).map(({ text }) => text);
  if (unproven.length === 0) return [];
  const title = 'notes that somebody left for you; nobody can tell who';
  return [{ kind: 'whole', text: materialBlock(title, unproven.join('\n\n'), rulesFor(policy)) }];
}

const MOST_TESTS = 20;

/** The first prompt's words if all checks already pass. Kept shorter than 250 characters. */
const ALL_PASSED =
  'All checks pass already, so they cannot show that your work is done. Where a test can show it, add one that fails without your work.';

/** Tells the agent which checks already failed before it began, or that all of them passed. */
function startLines(
  policy: Policy,
  { failedAtStart = [], allPassedAtStart = false }: Handover,
): readonly string[] {
  if (allPassedAtStart) return [ALL_PASSED];
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

/** Explains the loop to the agent. Stays under 900 characters, and is the same in every iteration. */
export function protocolNote(policy: Policy): string {
  const complete =
    policy.promise === null
      ? `The task counts as complete when ${describeCompletion(policy)}. Bring that about only when the work is truly done.`
      : `When the task is truly complete, and only then, write <promise>${policy.promise}</promise> as the last line of your final message, below a finished sentence and a blank line, with nothing behind it. Never state it to get out of the loop: if something is missing or fails, say what, without the promise.`;
  return [
    'About this session: you run unattended, in a loop that starts you again until the task is complete.',
    complete,
    'Nobody answers questions: decide yourself. Work you leave in the background ends with your turn: wait for it to finish.',
    'Before a step that a person has to allow, end your message with <approval id="short-id">what you want to do</approval> and wait for the next turn.',
    'You may report progress: <progress done="2" total="5">what you do now</progress>.',
  ].join(' ');
}

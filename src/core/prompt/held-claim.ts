import type { CheckResult } from '../completion/check-result.ts';
import { afterFailure } from '../completion/claims/describe-held.ts';
import type { Blocker } from '../completion/claims/gates.ts';
import type { CommandResult } from '../completion/command-result.ts';
import { criterionLine, type JudgeVerdict } from '../judge/verdict.ts';
import { type Finding, findingText } from '../proof/findings.ts';
import { clip, disarm, type MaterialRules, materialLine, oneLine } from '../text/untrusted-text.ts';

/** Tells the agent why its claim of completion was not accepted, and what to do. */
export function describeHold(
  held: Exclude<Blocker, { gate: 'refused-tools' }>,
  rules: MaterialRules,
): string {
  switch (held.gate) {
    case 'min-iterations':
      return `Your statement that the task is complete came early: at least ${held.from} iterations are asked for. Go through the work again and improve it.`;
    case 'protect':
      return `${NOT_ACCEPTED} protected files have changed: ${materialLine(held.files.slice(0, 10).join(', '), rules)}. Put them back as they were.`;
    case 'verify':
      return `${NOT_ACCEPTED} ${describeFailedChecks(held.failed, rules)}`;
    case 'clean-checkout':
      return `${NOT_ACCEPTED} the work was checked once more in a fresh checkout, with nothing of what git ignores and nothing that you left running, and there ${
        held.why === null
          ? describeFailedChecks(held.failed, rules)
          : `${materialLine(held.why, rules)}.${held.setup !== null && hasPrinted(held.setup) ? ' What was printed stands above.' : ''}`
      } Make the checks pass from the files that git keeps.`;
    case 'judge':
      return `${NOT_ACCEPTED} ${held.verdict.agent}, which has read your work, says that this is not met: ${objections(held.verdict, rules)}. Fix that in the files; what is not in them, it does not see.`;
    case 'confirm':
      return `You stated that the task is complete (${held.so_far} of ${held.of} times). Do not go on working: check with fresh eyes whether it truly is complete. If it is, state it again; if not, say what is missing and fix it.`;
    default:
      return [
        `${NOT_ACCEPTED} this was found: ${materialLine(held.findings.map(findingText).join('; '), rules)}.`,
        ...(held.failed.length === 0
          ? []
          : [
              `With what decides the checks as it was at the start, ${describeFailedChecks(held.failed, rules)}`,
            ]),
        ...((held.why ?? null) === null
          ? []
          : [
              `The checks could not be run with what decides them as it was at the start: ${materialLine(held.why ?? '', rules)}.`,
            ]),
        ...held.findings.map(adviceOn),
        'Only the person who started this can set a flag.',
      ].join(' ');
  }
}

/** How much of a judge's objections is shown, in UTF-16 code units. */
const OBJECTION_CHARS = 4_000;

/** Returns a judge's objections, each with its evidence and places. */
function objections({ criteria }: JudgeVerdict, rules: MaterialRules): string {
  const open = criteria.filter(({ verdict }) => verdict === 'not-met');
  const room = Math.max(100, Math.floor(OBJECTION_CHARS / Math.max(1, open.length)) - 2);
  const lines = open.map((each) => oneLine(disarm(criterionLine(each), rules), room));
  return clip(lines.join('; '), OBJECTION_CHARS);
}

const NOT_ACCEPTED = 'Your statement that the task is complete was not accepted, because';

function adviceOn({ finding }: Finding): string {
  switch (finding) {
    case 'empty-work':
      return 'Do the work itself, or say plainly what keeps you from it.';
    case 'bent-judge':
      return 'Put back what decides the checks as it was at the start, and make the work pass by it.';
    case 'changed-tests':
      return 'Put back the test files of the start, and fix the work so that their tests pass; add new tests beside them.';
    case 'fewer-tests':
      return 'Let all tests run that ran at the start, and fix the work, not the tests.';
    case 'fewer-boxes':
      return 'Put the missing boxes back into the plan, and do what they ask for.';
    case 'failed-tests':
      return 'Fix what the failed tests show: a check that ends with 0 is not enough.';
    case 'nothing-shown':
      return 'Add a test that fails without your work, in a file that the checks run.';
    case 'rewritten-files':
      return 'Put the files back as they were at the start, and make the work pass by them.';
    case 'unsteady-check':
      return 'Find out why the check does not always say the same.';
    case 'stopped-subagents':
      return 'Do that part yourself, or start it again and wait for its answer; check the result, then state it again.';
  }
}

/** Names a check in a sentence: `unit (npm test)`, or only the command if the check has no other name. */
export function checkName(
  { name, command }: Pick<CheckResult, 'name' | 'command'>,
  rules: MaterialRules,
): string {
  const [shown, run] = [materialLine(name, rules), materialLine(command, rules)];
  return shown === run ? run : `${shown} (${run})`;
}

/** Says which checks failed and how, as the end of a sentence. */
export function describeFailedChecks(failed: readonly CheckResult[], rules: MaterialRules): string {
  const each = failed.map((result) => {
    const after = materialLine(afterFailure(result), rules);
    return `${checkName(result, rules)} ${describeFailure(result)}${after}`;
  });
  const [what, who] = failed.length === 1 ? ['a check', 'it'] : ['these checks', 'they'];
  const where = failed.some(hasPrinted) ? ` What ${who} printed stands above.` : '';
  return `${what} failed: ${each.join('; ')}.${where}`;
}

/** Says how a command failed, as the end of a clause: `exited with 1`. */
export function describeFailure({ timedOut, exitCode }: CommandResult): string {
  return timedOut ? 'did not end in time' : `exited with ${exitCode ?? 'a signal'}`;
}

/** Whether a command printed anything. */
export function hasPrinted({ output }: Pick<CommandResult, 'output'>): boolean {
  return output.trim() !== '';
}

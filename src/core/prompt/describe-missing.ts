import type { CountedOutcome } from '../agent/outcome.ts';
import { describeSign, type SignName } from '../agent/sign.ts';
import { PLACES } from '../completion/back-question.ts';
import type { Policy } from '../task/policy.ts';
import { disarm, type MaterialRules, materialLine, oneLine } from '../text/untrusted-text.ts';
import type { Missing } from './handover.ts';
import { describeFailedChecks, describeFailure, describeHold, hasPrinted } from './held-claim.ts';
import { rulesFor } from './material-rules.ts';

/** How much of a person's reason the prompt repeats, in UTF-16 code units. */
const LONGEST_REASON = 1_000;

/** Tells the agent in a few sentences why the task is not complete. */
export function describeMissing(missing: Missing, policy: Policy): string {
  const rules = rulesFor(policy);
  switch (missing.kind) {
    case 'near-miss':
      if (missing.said !== undefined) {
        return `A hook held you behind your last message, so the promise in it does not count. The hook said: ${materialLine(missing.said, rules)}`;
      }
      return `Your last message mentioned the promise without stating it (${missing.why.replaceAll('-', ' ')}): "${materialLine(missing.line, rules)}". A mention does not count.`;
    case 'in-doubt':
      return `Your last message stated the promise ${PLACES[missing.where]}: "${materialLine(missing.line, rules)}". ${
        missing.hasReplied
          ? 'Asked whether the task is complete, you did not state it: fix first what you said is missing. '
          : ''
      }When the task is truly complete, state it as the last line of your final message. Give it a line of its own, below a finished sentence.`;
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
    case 'lost-servers':
      return `These MCP servers failed to start or want a login, so their tools are missing: ${materialLine(missing.servers.join(', '), rules)}. Find a way without them, or say plainly what you need.`;
    case 'held':
      return describeHold(missing.held, rules);
    case 'checks-failed':
      return `After your previous iteration, ${describeFailedChecks(missing.failed, rules)}`;
    case 'until':
      return `The command that decides whether the task is complete ${describeFailure(missing.result)}: ${materialLine(missing.result.command, rules)}.${hasPrinted(missing.result) ? ' Its output stands above.' : ''}`;
    case 'not-ended-well':
      return describeBadEnd(missing.outcome, policy, rules);
    case 'not-committed':
      return `Your work is kept, but it could not be committed, because ${materialLine(missing.why, rules)}.${missing.output.trim() === '' ? '' : ' What was said stands above.'} Fix what kept it from being committed; do not commit by yourself.`;
    case 'branches':
      return `Your work is committed for you, and it is spread over several branches: what you did last is on ${materialLine(missing.branch, rules)}, which is checked out, and what you did before on ${materialLine(missing.earlier.join(', '), rules)}. Stay on ${materialLine(missing.branch, rules)}: do not check out another branch.`;
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

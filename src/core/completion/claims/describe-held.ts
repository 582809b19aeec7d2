import type { RefusedTool } from '../../agent/attempt.ts';
import { judgedText } from '../../judge/verdict.ts';
import { failedOf, findingText } from '../../proof/findings.ts';
import { counted } from '../../text/counted.ts';
import type { CheckResult } from '../check-result.ts';
import type { Blocker } from './gates.ts';

/** Tells a person in one line why a gate (a condition for accepting a claim of completion) blocked a claim. */
export function describeHeld(held: Blocker): string {
  switch (held.gate) {
    case 'min-iterations':
      return `not before iteration ${held.from}`;
    case 'refused-tools':
      return `refused: ${describeTools(held.tools)}`;
    case 'protect':
      return `protected files have changed: ${held.files.slice(0, 5).join(', ')}`;
    case 'verify':
      return describeFailed(held.failed);
    case 'clean-checkout':
      return `in a clean checkout ${held.why ?? describeFailed(held.failed)}${held.folder === null ? '' : ` (it is kept in ${held.folder})`}`;
    case 'judge':
      return judgedText(held.verdict);
    case 'confirm':
      return `confirmed ${held.so_far} of ${held.of} times`;
    default: {
      const findings = held.findings.map(findingText).join('; ');
      const exam =
        held.failed.length === 0 ? '' : `; with the old version, ${describeFailed(held.failed)}`;
      const why = held.why ?? null;
      const notMade = why === null ? '' : `; with the old version, ${why}`;
      return `${findings}${exam}${notMade}`;
    }
  }
}

function describeFailed(failed: readonly CheckResult[]): string {
  return failed
    .map((result) => {
      const { name, timedOut, exitCode } = result;
      const end = timedOut ? 'ran out of time' : `exited with ${exitCode ?? 'a signal'}`;
      return `${name} ${end}${afterFailure(result)}`;
    })
    .join('; ');
}

/** Returns a clause with further facts about a failed check, to follow the words on how it ended; empty for none. */
export function afterFailure({ verdict, failures, tests, inTheWay }: CheckResult): string {
  const tested =
    verdict === 'failed-tests' ? `, although ${failedOf(failures ?? 0, tests)} failed` : '';
  return inTheWay === undefined
    ? tested
    : `${tested}, and known failures do not excuse it: ${inTheWay}`;
}

/** Names refused tools to a person in one line. */
export function describeTools(tools: readonly RefusedTool[]): string {
  return counted(tools.map(({ tool, target }) => (target === '' ? tool : `${tool}: ${target}`)))
    .slice(0, 5)
    .join('; ');
}

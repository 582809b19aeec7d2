import type { CheckResult } from '../completion/check-result.ts';
import type { PromptText } from '../completion/promise.ts';
import type { Policy } from '../task/policy.ts';
import { materialBlock, materialLine } from '../text/untrusted-text.ts';
import { excerpts, OUTPUT_ROOM } from './excerpts.ts';
import type { Handover, Missing } from './handover.ts';
import { hasPrinted } from './held-claim.ts';
import { rulesFor } from './material-rules.ts';

/** The output of one of the user's commands. */
export interface CommandOutput {
  readonly by: 'verify' | 'until' | 'commit' | 'setup';
  /** The name of the check, for `verify`; otherwise null. */
  readonly check: string | null;
  readonly output: string;
}

/** Returns the outputs of the user's commands that failed after the last iteration, except for empty outputs. */
export function failedOutputs(carry: Handover): readonly CommandOutput[] {
  return carry.missing.flatMap((missing): readonly CommandOutput[] => {
    if (missing.kind === 'not-committed') {
      return hasPrinted(missing) ? [{ by: 'commit', check: null, output: missing.output }] : [];
    }
    if (missing.kind === 'until') {
      const { result } = missing;
      return hasPrinted(result) ? [{ by: 'until', check: null, output: result.output }] : [];
    }
    const setup = missing.kind === 'held' && 'setup' in missing.held ? missing.held.setup : null;
    if (setup !== null) {
      return hasPrinted(setup) ? [{ by: 'setup', check: null, output: setup.output }] : [];
    }
    return checksIn(missing)
      .filter(hasPrinted)
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

/** Returns blocks that show outputs and reverted changes, marked as data like all text that is not from the user. */
export function outputBlocks(policy: Policy, carry: Handover): readonly PromptText[] {
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

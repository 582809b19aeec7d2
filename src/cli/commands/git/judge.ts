import { judgeTask } from '../../../compose/git-commands/judge.ts';
import { proofOfTask } from '../../../compose/git-commands/proof.ts';
import { verdictLines } from '../../../core/judge/verdict.ts';
import { factsOfStatement } from '../../../core/proof/statement.ts';
import { layerOf } from '../../../core/settings/setting-source.ts';
import { SETTINGS } from '../../../core/settings/settings.ts';
import { safeJson } from '../../../core/text/safe-json.ts';
import { sealAt } from '../../../effects/trust/seal.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { InvalidStateError, UntrustedTaskError } from '../../../task-errors.ts';
import { existingTask } from '../../tasks/find-task.ts';
import { type FolderOptions, foldersOf, startFolder } from '../../tasks/named-folders.ts';
import { shownTask } from '../../tasks/named-task.ts';
import { say, standardOutlet } from '../../terminal/outlet.ts';

const OF_JUDGE_COMMAND = ['judge', 'judgeCommand', 'criterion', 'criteria', 'agentBin'] as const;

export interface JudgeOptions
  extends FolderOptions,
    Partial<Record<(typeof OF_JUDGE_COMMAND)[number], string | readonly string[]>> {
  readonly json?: boolean;
}

/** `ralph judge ID`: lets an agent judge the final files of a completed task, and changes nothing. */
export async function judge(word: string, options: JudgeOptions): Promise<number> {
  const place = foldersOf(options);
  const taskId = shownTask(word, place);
  const task = existingTask(taskId, place);
  const { standing, state, paths, isOwn } = task;
  if (standing !== 'completed') {
    throw new InvalidStateError(taskId, standing, 'ralph judge expects a completed task');
  }
  if (!isOwn)
    throw new UntrustedTaskError(taskId, place.stateDir, 'was not written by you here', []);
  const values = OF_JUDGE_COMMAND.map((name) => [name, options[name]]);
  const given = layerOf(Object.fromEntries(values), (name) => ({
    kind: 'flag',
    where: SETTINGS[name].flag,
  }));
  const proof = proofOfTask(paths.folder, state, sealAt(place));
  const verdict = await judgeTask({
    ...{ ...task, given, env: process.env, startDir: startFolder(), warn: say },
    proof: proof === null ? null : factsOfStatement(proof.statement),
    onWait: (pid) =>
      say(`waiting for other checks in this repository${pid === null ? '' : ` (pid ${pid})`}`),
  });
  const text = options.json ? safeJson(verdict, 2) : verdictLines(verdict).join('\n');
  await standardOutlet().write(`${text}\n`);
  return verdict.verdict === 'met' ? 0 : EXIT_FAILED;
}

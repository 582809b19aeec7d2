import type { AgentName } from '../../core/agent/agents/agents.ts';
import type { Ending } from '../../core/machine/loop-state.ts';
import type { CommandOutput } from '../../core/prompt/failed-outputs.ts';
import { endingRow } from '../../core/task/endings.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { oneLine, withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { agentsText, costText, judgeText } from '../agent-words.ts';
import { remedyFor } from '../ending-lines.ts';
import { formatCost, formatDuration } from '../format.ts';
import { plantedFiles, refusedLines, sandboxText } from '../sandbox-words.ts';
import {
  cell,
  codeSpan,
  fenced,
  frontMatter,
  inlineText,
  listed,
  sandboxSections,
} from './markdown.ts';

export interface NoteFacts {
  readonly task: TaskState;
  readonly ending: Ending;
  readonly agent: AgentName;
  readonly created: string;
  readonly stateFile: string;
  readonly logDir: string;
  /** The completion rule in words. */
  readonly completion: string;
  readonly lastOutput: string | null;
  /** What was missing for the last iteration to complete the task, one sentence each. */
  readonly missing: readonly string[];
  /** The output of the user's commands that failed after the last iteration. */
  readonly commandOutputs: readonly CommandOutput[];
  /** The folder of the clean checkout in which the agent's last claim of completion failed; null if there is none. */
  readonly checkout: string | null;
  /** The shell command that resumes the task. */
  readonly again: string;
}

/** Returns the Markdown text of a note for a person: what was asked, what happened, what to do next. */
export function renderNote({ stateFile, logDir, ...texts }: NoteFacts): string {
  // Paths stay unchanged, so that programs can read them from the front matter.
  const facts = { ...withoutControlsIn(texts), stateFile, logDir };
  const { task } = facts;
  const sections = [
    frontMatter(fieldsOf(facts)),
    `# ${headingOf(facts)}`,
    `## What happened\n\n${whatHappened(facts)}`,
    `## What was asked\n\n${fenced(task.task_prompt)}`,
    `## What counts as complete\n\nDone when ${codeSpan(facts.completion)}.`,
    `## Iterations\n\n${iterationTable(task)}`,
    ...sandboxSections(refusedLines(task, codeSpan), plantedFiles(task, codeSpan)),
    ...(facts.missing.length > 0
      ? [`## What the next prompt says\n\n${listed(facts.missing.map(inlineText))}`]
      : []),
    ...facts.commandOutputs.map(
      ({ by, check, output }) =>
        `## What --${by} printed${check === null ? '' : `: ${inlineText(check)}`}\n\n${fenced(output)}`,
    ),
    `## The last output\n\n${facts.lastOutput === null ? 'There is none.' : fenced(facts.lastOutput)}`,
    `## What to do next\n\n${whatToDo(facts)}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Returns the heading: a failure in the agent's own words, or else what happened, and the id of the task. */
function headingOf({ task, ending }: Pick<NoteFacts, 'task' | 'ending'>): string {
  const { failure, status, exitReason } = ending;
  if (failure !== undefined && failure !== '') return inlineText(oneLine(failure, HEADING_CHARS));
  return `${endingRow(status, exitReason).note?.title ?? ''}: ${task.task_id}`;
}

const HEADING_CHARS = 120;

function fieldsOf({ task, ending, created, stateFile, logDir }: NoteFacts) {
  return {
    type: `ralph_${(ending.note ?? 'failed').toLowerCase()}`,
    task_id: task.task_id,
    task_type: task.task_type,
    reason: ending.exitReason,
    iterations: task.metrics.iterations,
    max_iterations: task.max_iterations,
    created,
    state_file: stateFile,
    log_dir: logDir,
  };
}

function whatHappened({ task, ending, checkout }: NoteFacts): string {
  const cost = task.usage.cost_usd > 0 ? ` at ${formatCost(task.usage.cost_usd)}` : '';
  const time = formatDuration(task.metrics.total_duration_seconds * 1000);
  const agents = agentsText(task);
  const used = `${task.metrics.iterations} of ${task.max_iterations} iterations, ${time}${cost}`;
  return [
    ...(ending.error === null ? [] : [inlineText(ending.error)]),
    ...(ending.until === null
      ? []
      : [
          ending.status === 'budget_spent'
            ? `There is room again at ${ending.until}, when the next day begins.`
            : `The limit resets at ${ending.until}.`,
        ]),
    ...(checkout === null
      ? []
      : [`The clean checkout that held the last claim is kept in ${codeSpan(checkout)}.`]),
    `Used: ${used}.`,
    ...(agents === null ? [] : [`By agent: ${inlineText(agents)}.`]),
    ...(task.judge === undefined ? [] : [`Judge: ${inlineText(judgeText(task.judge))}.`]),
    `Sandbox: ${inlineText(sandboxText(task))}.`,
  ].join('\n\n');
}

function iterationTable(task: TaskState): string {
  if (task.iterations.length === 0) return 'No iteration has run.';
  const folded = task.metrics.iterations - task.iterations.length;
  const rows = task.iterations.map((record) =>
    [
      String(record.number),
      formatDuration(record.duration_ms),
      record.near_miss ? `${record.outcome}, near miss` : record.outcome,
      costText(record),
      cell(record.output_preview),
    ].join(' | '),
  );
  return [
    ...(folded > 0 ? [`The first ${folded} are not shown.\n`] : []),
    '| # | time | outcome | cost | first words |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

function whatToDo({ ending, again, agent }: NoteFacts): string {
  const { status, exitReason, failure = null, accepting } = ending;
  const remedy = remedyFor(status, exitReason, agent, failure, accepting);
  return [
    ...(remedy === null ? [] : [`First: ${remedy}.\n`]),
    'To resume it:\n',
    fenced(again, 'sh'),
  ].join('\n');
}

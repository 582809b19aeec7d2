/** The longest first line of a commit message. */
const SUBJECT_CHARS = 72;

/** The facts that a commit message may contain. */
export interface CommitFacts {
  readonly taskId: string;
  readonly iteration: number;
  /** The outcome of the iteration as the state file has it, for example `answered`. */
  readonly outcome: string;
  /** The agent's last line that sums up its work; '' if it said nothing. */
  readonly summary: string;
}

/**
 * Returns the message of an iteration's commit. In a template `{summary}`, `{task}`, `{iteration}` and
 * `{outcome}` stand for the facts. The `Ralph-…` lines at the end are always added.
 */
export function commitMessage(facts: CommitFacts, template: string | null): string {
  const values: Readonly<Record<string, string>> = {
    summary: facts.summary,
    task: facts.taskId,
    iteration: String(facts.iteration),
    outcome: facts.outcome,
  };
  const plain =
    facts.summary === '' ? `Iteration ${facts.iteration} of ${facts.taskId}` : facts.summary;
  const text =
    template?.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole) ?? plain;
  const [subject = '', ...body] = text.trim().split('\n');
  const trailers = [
    `Ralph-Task: ${facts.taskId}`,
    `Ralph-Iteration: ${facts.iteration}`,
    `Ralph-Outcome: ${facts.outcome}`,
  ];
  return [subjectOf(subject), ...body, '', ...trailers, ''].join('\n');
}

/** Returns git arguments that list only the commits of a task, which are known by the task id in their message. */
export function onlyOfTask(taskId: string): readonly string[] {
  return ['--extended-regexp', `--grep=^Ralph-Task: ${taskId.replaceAll('.', '\\.')}$`];
}

/** Returns a line as the first one of a commit message, shortened if it is too long. */
export function subjectOf(line: string): string {
  const chars = [...line];
  return chars.length <= SUBJECT_CHARS ? line : `${chars.slice(0, SUBJECT_CHARS - 1).join('')}…`;
}

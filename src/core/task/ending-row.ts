/** The exit code, wording and consequences of one way in which a task can end. */
export interface EndingRowOf<Event extends string = string, Word extends string = string> {
  readonly event: Event;
  readonly exitCode: number;
  /** The note that the ending leaves: its name is `RALPH_<word>_<task_id>_<timestamp>.md`, the title its heading. */
  readonly note?: { readonly word: Word; readonly title: string };
  /** What the task needs next. The colour of the ending follows from it: green, yellow or red. */
  readonly needs: 'nothing' | 'a resume' | 'a person';
  /** The state of the task in `ralph report`. */
  readonly words: string;
  /** The closing words of the run; `…` stands for the evidence or the reason. */
  readonly says: string;
  /** General advice on what to do. Advice for the failures of a single agent is in the agent's module. */
  readonly remedy?: string;
  /** The advice if the last iteration failed. */
  readonly remedyOfFailure?: string;
  /** The flag that raises the limit that was used up. */
  readonly more?: string | undefined;
  /** Set if ralph does not propose `ralph resume` after this ending. */
  readonly isFinal?: true;
  readonly verdict: Verdict;
  /** Set if a pass over the vault (a run of all task files) resumes the task, since the cause may go away by itself. */
  readonly isPassing?: true;
  /**
   * What `--resume-if-open` does. It is refused where each new run would get a full budget again: that is for a
   * person to decide.
   */
  readonly ifOpen: 'continues' | 'begins a new run' | 'is refused';
}

/** What the end of a run means for the task's file and for the pass over the vault that runs it. */
type Verdict =
  | 'done'
  /** The file is the cause, so the attempt to finish it counts as failed. */
  | 'failed'
  /** The cause is not the file, so the next file would fail, too. */
  | 'common'
  /** A person has to resume the task. */
  | 'held'
  /** A signal ended the run, and it ends the whole pass. */
  | 'interrupted';

/** What is said of one way in which a task can end. */
export interface EndingRowOf<Event extends string = string, Word extends string = string> {
  /** The event that announces it. */
  readonly event: Event;
  readonly exitCode: number;
  /** The note it leaves: its name is `RALPH_<word>_<task_id>_<timestamp>.md`, the title its heading. */
  readonly note?: { readonly word: Word; readonly title: string };
  /** What has to be done about the task. It sets the colour: green, yellow or red. */
  readonly needs: 'nothing' | 'a resume' | 'a person';
  /** The state of the task in `ralph report`. */
  readonly words: string;
  /** The closing words of the run; `…` stands for the evidence or the reason. */
  readonly says: string;
  /** General advice on what to do. What only one agent's failure needs is said in the agent's module. */
  readonly remedy?: string;
  /** The advice where the last iteration failed. */
  readonly remedyOfFailure?: string;
  /** The flag that raises the limit that was used up. */
  readonly more?: string | undefined;
  /** `ralph resume` is not proposed. */
  readonly isFinal?: true;
  readonly verdict: Verdict;
  /** A pass resumes the task, since the cause can go away without a change of its settings. */
  readonly isPassing?: true;
  /** What `--resume-if-open` does. If refused, a person decides: each new run would get a full budget again. */
  readonly ifOpen: 'continues' | 'begins a new run' | 'is refused';
}

/** What the end of a run means for the file and for the pass over the vault. */
type Verdict =
  | 'done'
  /** The file is the cause, so this counts as a failed rescue. */
  | 'failed'
  /** The cause is not the file, so the next file would fail, too. */
  | 'common'
  /** A person has to resume it. */
  | 'held'
  /** A signal, which ends everything. */
  | 'interrupted';

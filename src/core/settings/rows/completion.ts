import type { WrittenRow } from './setting-row.ts';

/** The promise (the agent's words for "done") that a task gets if no completion condition is given. */
export const DEFAULT_PROMISE = 'TASK_COMPLETE';

/** The settings that say what the task is. */
export const PROMPT_ROWS = {
  prompt: {
    short: '-p',
    argument: 'TEXT',
    type: { kind: 'text' },
    ...{ trust: false, fleet: 'beside', resume: 'fixed', rescue: 'off' },
    help: 'the task; "-" reads it from standard input',
  },
  promptFile: {
    argument: 'FILE',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'beside', resume: 'fixed', rescue: 'off' },
    help: 'a file with the task, read again for each iteration',
  },
  taskFile: {
    argument: 'FILE',
    type: { kind: 'text' },
    fleet: { not: 'it is a file of a vault; give its text with --prompt-file' },
    ...{ trust: false, resume: 'fixed', rescue: 'file' },
    help: 'a file of the vault to work on; it moves to In_Progress, and to Done when it is complete',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

/** The settings that say when a task is complete. */
export const COMPLETION_ROWS = {
  promise: {
    aliases: ['--completion-promise'],
    argument: 'TEXT',
    type: { kind: 'text' },
    evidence: 'promise',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: `the words by which the agent states that the task is complete (${DEFAULT_PROMISE} if no condition is given)`,
  },
  match: {
    argument: 'RULE',
    type: { kind: 'choice', choices: ['statement', 'tag', 'contains'] },
    default: 'statement',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'where the promise must be: at the end, in its tags or bare; at the end, in its tags only; or anywhere',
  },
  watchGlob: {
    argument: 'GLOB',
    type: { kind: 'texts', what: 'a pattern such as "out/*.md"' },
    evidence: 'watch-glob',
    ...{ trust: false, fleet: 'path', resume: 'changes', rescue: 'own' },
    help: 'complete when a new or changed file matches; may be repeated',
  },
  watchExisting: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'also count files that matched before the task began',
  },
  watchFile: {
    argument: 'FILE',
    type: { kind: 'text', what: 'a file' },
    evidence: 'file-moved',
    ...{ trust: false, fleet: 'path', resume: 'changes', rescue: 'file' },
    help: 'complete when this file has been moved to the done folder',
  },
  doneFolder: {
    argument: 'DIR',
    type: { kind: 'text' },
    ...{ trust: false, fleet: 'path', resume: 'changes', rescue: 'own' },
    help: 'where the watched file is moved to (default: Done in the vault)',
  },
  until: {
    type: { kind: 'command' },
    evidence: 'until',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'complete when this shell command exits 0 after an iteration',
  },
  signal: {
    argument: 'TEXT',
    type: { kind: 'texts', what: 'the words that the agent has to state' },
    evidence: 'signal',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'complete when the agent states this in two iterations in a row; may be repeated',
  },
  planFile: {
    argument: 'FILE',
    type: { kind: 'text' },
    evidence: 'plan-file',
    ...{ trust: false, fleet: 'path', resume: 'changes', rescue: 'own' },
    help: 'complete when every checkbox in this Markdown file is ticked',
  },
  confirm: {
    type: { kind: 'count', min: 1 },
    default: '1',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'accept completion only if it is claimed in N iterations in a row',
  },
  minIterations: {
    type: { kind: 'count', min: 1 },
    default: '1',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'accept no completion before iteration N',
  },
  protect: {
    argument: 'GLOB',
    type: { kind: 'texts' },
    ...{ trust: false, fleet: 'path', resume: 'changes', rescue: 'own' },
    help: 'accept no completion if a file that matched at the start has changed; may be repeated',
  },
  acceptRefused: {
    argument: 'PATTERN',
    type: { kind: 'texts' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'permission' },
    help: 'refused tools that do not block completion, such as "Bash(git push:*)", or * for all; may be repeated',
  },
  abortPromise: {
    argument: 'TEXT',
    type: { kind: 'text', what: 'the words that the agent has to state' },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'end the task as failed when the agent states this',
  },
  askBack: {
    negation: '--no-ask-back',
    type: { kind: 'switch' },
    default: 'true',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'ask claude, in its own session, whether it is done if it states the promise, but not as its last line; --no-ask-back does not',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

type CompletionRow = (typeof COMPLETION_ROWS)[keyof typeof COMPLETION_ROWS];
/** What can show that a task is complete, as the state file names it: one kind of evidence for each condition. */
export type EvidenceKind = Extract<CompletionRow, { readonly evidence: string }>['evidence'];

export const EVIDENCE_KINDS: readonly EvidenceKind[] = Object.values(COMPLETION_ROWS).flatMap(
  (row) => ('evidence' in row ? [row.evidence] : []),
);

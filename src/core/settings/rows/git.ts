import type { WrittenRow } from './setting-row.ts';

const OWN_TREE = { not: 'each task of a fleet has a clone of its own' } as const;

/** The settings for snapshots, work trees and commits. */
export const GIT_ROWS = {
  snapshots: {
    negation: '--no-snapshots',
    type: { kind: 'switch' },
    fleet: { not: 'a fleet hands a task on by its snapshots' },
    ...{ trust: true, resume: 'changes', rescue: 'own' },
    help: 'keep the files as they are after each iteration, for diff and undo; --no-snapshots does not (default: on in a git work tree)',
  },
  snapshotLimit: {
    type: { kind: 'size' },
    default: '50MB',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'an untracked file larger than this is in no snapshot',
  },
  snapshotExclude: {
    argument: 'GLOB',
    type: { kind: 'texts' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'files that are in no snapshot; may be repeated',
  },
  worktree: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: OWN_TREE, resume: 'fixed', rescue: 'own' },
    help: 'work in a git work tree of its own, on a new branch ralph/ID',
  },
  base: {
    argument: 'REF',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'beside', resume: 'fixed', rescue: 'own' },
    help: 'where the branch of --worktree begins (default: HEAD)',
  },
  worktreeDir: {
    argument: 'DIR',
    type: { kind: 'text' },
    ...{ trust: true, fleet: OWN_TREE, resume: 'fixed', rescue: 'own' },
    help: 'the folder of the work trees of --worktree (default: REPOSITORY.ralph beside the repository)',
  },
  setup: {
    type: { kind: 'command' },
    ...{ trust: true, fleet: 'beside', resume: 'changes', rescue: 'program' },
    help: 'shell command once in a new work tree, for example "npm ci"',
  },
  copy: {
    argument: 'GLOB',
    type: { kind: 'texts' },
    fleet: { not: 'it copies files of this machine; make them with --setup' },
    ...{ trust: true, resume: 'changes', rescue: 'own' },
    help: 'ignored files such as .env to copy into a new work tree; may be repeated',
  },
  shareWorktree: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: OWN_TREE, resume: 'changes', rescue: 'own' },
    help: 'run even though another task works in the same work tree',
  },
  commit: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'shown' },
    help: 'commit what each iteration changed, and nothing else',
  },
  commitMessage: {
    argument: 'TEXT',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'message of these commits; {summary}, {task}, {iteration} and {outcome} are replaced by the facts',
  },
  protectBranch: {
    argument: 'NAME',
    type: { kind: 'texts' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: "a branch that --commit leaves alone; may be repeated (default: main, master, the remote's own)",
  },
  revertFailed: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'shown' },
    help: 'take back what an iteration changed that was cut off',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

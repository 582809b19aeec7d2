import type { WrittenRow } from './setting-row.ts';

/** The settings that say what checks a claim that the task is complete, and when. */
export const PROOF_ROWS = {
  verify: {
    type: { kind: 'checks' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'accept completion only if this shell command exits 0; may be repeated',
  },
  verifyEach: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'run the checks of --verify after each iteration that ended well, not only on a claim',
  },
  baseline: {
    negation: '--no-baseline',
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'run each check once before the first iteration, to know how it ended at the start; --no-baseline does not (default: on with --proof hold or strict and with --known-failures allow)',
  },
  knownFailures: {
    argument: 'RULE',
    type: { kind: 'choice', choices: ['refuse', 'allow'] },
    default: 'refuse',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'whether a check counts as passed that fails only with tests that failed before the first iteration',
  },
  proof: {
    argument: 'DEGREE',
    type: { kind: 'choice', choices: ['tell', 'hold', 'strict'] },
    default: 'tell',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'what a finding against a claim does: it is told, or it holds the claim; strict also holds a claim whose checks passed before the work as they do now',
  },
  verifyClean: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'run the checks of a claim once more, in a fresh checkout of its tree',
  },
  acceptEmpty: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'accept a claim although nothing was changed, for a task whose result is the message itself',
  },
  acceptChanged: {
    argument: 'GLOB',
    type: { kind: 'texts' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'files that decide what a check says and that the task is meant to change; may be repeated',
  },
  acceptFewer: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'accept a claim although fewer tests ran than at the start, or the plan has fewer boxes',
  },
  acceptFailed: {
    type: { kind: 'switch' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'accept checks that end with 0 although their test runner says that tests failed',
  },
  planSection: {
    argument: 'NAME',
    type: { kind: 'texts' },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'count only the boxes of the plan file under headings of this name; may be repeated',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

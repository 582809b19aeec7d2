import { expect, test } from 'vitest';
import {
  type ListedSnapshot,
  redoSpans,
  type Timeline,
  type TreePair,
  timelineOf,
  type UndoSpan,
  undoSpan,
} from '../../../src/core/snapshots/timeline.ts';
import { planUndo, type TreeDifference } from '../../../src/core/snapshots/undo-plan.ts';
import { seeded } from '../../helpers/fault-scene.ts';

// Undos, redos, iterations and a person's edits in any order, beside a plain model: an editor that keeps each
// undo on a stack. A tree is its files as JSON.

type Files = Readonly<Record<string, string>>;

const NAMES = ['a', 'b', 'c', 'd'];

const treeOf = (files: Files): string => JSON.stringify(Object.entries(files).sort());

const filesOf = (tree: string): Files => Object.fromEntries(JSON.parse(tree));

function compare({ from, to }: TreePair): TreeDifference {
  const [one, other] = [filesOf(from), filesOf(to)];
  const names = NAMES.filter((name) => one[name] !== other[name]);
  return new Map(
    names.map((name) => [name, { from: one[name] ?? null, to: other[name] ?? null }] as const),
  );
}

/** A work tree whose undos are decided as those of ralph. */
function workTree() {
  const tree = { now: {} as Files };
  const listed: ListedSnapshot[] = [];
  let isHalf = false;
  let isCutOff = false;
  const timeline = (): Timeline => timelineOf(listed);
  const keep = (name: string, undone: ListedSnapshot['undone'] = null): void => {
    listed.push({
      ...{ name, undone, tree: treeOf(tree.now), commit: name, subject: name, at: 'now' },
      ...{ order: listed.length + 1, branch: null, underWay: [] },
    });
  };
  const planOf = ({ before, after, begun, gaps }: UndoSpan) => {
    const between = gaps.flatMap(({ from, to, left }) =>
      [...compare({ from, to }).keys()].filter(
        (name) => left === null || compare({ from: left, to }).has(name),
      ),
    );
    return planUndo({
      done: compare({ from: before, to: after }),
      since: compare({ from: after, to: treeOf(tree.now) }),
      begun: begun === null ? new Map() : compare(begun),
      changedBetween: new Set(between),
      ...{ isCutOff, goesOn: begun?.isSame === true, force: false },
    });
  };
  const write = (files: Readonly<Record<string, string | null>>): void => {
    const entries = Object.entries({ ...tree.now, ...files });
    tree.now = Object.fromEntries(
      entries.filter((each): each is [string, string] => each[1] !== null),
    );
  };
  const on = (start: string, entries: Iterable<readonly [string, string | null]>): string => {
    const { now } = tree;
    tree.now = filesOf(start);
    write(Object.fromEntries(entries));
    const written = treeOf(tree.now);
    tree.now = now;
    return written;
  };

  return {
    tree,
    write,
    timeline,
    isHalf: () => isHalf,
    isCutOff: () => isCutOff,
    iterate(number: number, writes: Readonly<Record<string, string | null>>) {
      if (listed.at(-1)?.tree !== treeOf(tree.now) || listed.at(-1)?.undone !== null) {
        keep(number === 1 ? '0' : `${number}.0`);
      }
      write(writes);
      if (listed.at(-1)?.tree !== treeOf(tree.now)) keep(`${number}`);
    },
    /** Carries out the first of the undos that has something to do; `most` paths of it, as if it were killed then. */
    undo(spans: readonly UndoSpan[], most = NAMES.length): number | null {
      for (const span of spans) {
        const { restore, already, kept } = planOf(span);
        const passes = span.isRedo && span.begun === null && kept.length > 0;
        if (restore.size === 0 && !passes) continue;
        const all = [...already, ...restore];
        const fromTree = on(
          span.ours,
          all.map(([name, { now }]) => [name, now]),
        );
        const leftTree = on(
          span.ours,
          all.map(([name, { before }]) => [name, before]),
        );
        const { isRedo, base } = span;
        keep(`undo.${listed.length}`, { fromTree, leftTree, base: base.name, isRedo });
        const done = [...restore].slice(0, most);
        write(Object.fromEntries(done.map(([name, { before }]) => [name, before])));
        isHalf = done.length < restore.size;
        isCutOff = isHalf || kept.length > 0;
        return done.length;
      }
      return null;
    },
  };
}

function play(seed: number): void {
  const random = seeded(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const ralph = workTree();
  const { tree } = ralph;
  /** What each iteration began with. */
  const starts = new Map<number, Files>();
  /** What the work tree was before each undo that is not redone, the newest first. */
  let stack: Files[] = [];
  let model: Files = {};
  /** What a person wrote, as long as the agent has not written over it. */
  const mine = new Map<string, string>();
  /** Paths that the model does not know: a person has had a hand in them. */
  const shared = new Set<string>();
  const story: string[] = [];

  const mostOf = (): number => (random() < 0.3 ? Math.floor(random() * 2) : NAMES.length);
  const redos = () => redoSpans(ralph.timeline(), ralph.isCutOff());

  const isSame = (what: string): void => {
    story.push(`${what} ${treeOf(tree.now)}`);
    const isWrong = (name: string): boolean =>
      shared.has(name)
        ? mine.has(name) && tree.now[name] !== mine.get(name)
        : tree.now[name] !== model[name];
    const wrong = NAMES.filter(isWrong);
    if (wrong.length > 0) expect.fail(`${wrong} in seed ${seed}:\n${story.join('\n')}`);
  };

  for (let step = 1; step <= 30; step += 1) {
    const chance = random();
    if (chance < 0.25) {
      const writes = NAMES.filter(() => random() < 0.5).map(
        (name) => [name, random() < 0.2 ? null : `agent's ${step}`] as const,
      );
      const start = tree.now;
      stack = [];
      ralph.iterate(step, Object.fromEntries(writes));
      if (treeOf(start) !== treeOf(tree.now)) starts.set(step, start);
      for (const [name] of writes) mine.delete(name);
      model = tree.now;
      isSame(`iteration ${step}`);
    } else if (chance < 0.3) {
      const name = pick(NAMES);
      const text = `mine ${step}`;
      shared.add(name);
      mine.set(name, text);
      ralph.write({ [name]: text });
      isSame(`edit of ${name}`);
    } else if (chance < 0.65) {
      const number = pick([...starts.keys(), 1]);
      const again = () => [undoSpan(ralph.timeline(), number)].filter((span) => span !== null);
      const before = tree.now;
      const done = ralph.undo(again(), mostOf());
      // One that is cut off is finished by the same undo, or taken back.
      const isBack = ralph.isHalf() && done !== 0 && random() < 0.5;
      if (ralph.isHalf()) ralph.undo(isBack ? redos() : again());
      if (done !== null && !isBack) {
        [model, stack] = [starts.get(number) ?? {}, [before, ...stack]];
      }
      isSame(`${isBack ? 'half an ' : ''}undo ${number}`);
    } else {
      const [top, ...rest] = stack;
      const done = ralph.undo(redos(), mostOf());
      const isEmpty = top === undefined;
      if (shared.size === 0 && (done === null) !== isEmpty) expect.fail(`redo in seed ${seed}`);
      if (ralph.isHalf()) ralph.undo(redos());
      if (done !== null && top !== undefined) [model, stack] = [top, rest];
      isSame('redo');
    }
  }
}

test('undos and redos in any order come to what an editor comes to', () => {
  for (let seed = 1; seed <= 200; seed += 1) play(seed);
});

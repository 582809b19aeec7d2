import { describe, expect, test } from 'vitest';
import { judgePromise, type PromiseVerdict } from '../../../src/core/completion/promise.ts';
import { inGroups } from '../../helpers/in-groups.ts';
import { nightly } from '../../helpers/nightly.ts';
import { DONE, LANGUAGES, MISSED, TABLES, UNFINISHED } from '../endings/all.ts';
import type { Ending } from '../endings/ending.ts';
import { MISREAD, type Misread } from '../endings/misread.ts';

function judge(text: string): PromiseVerdict['kind'] {
  return judgePromise(text, 'COMPLETE', 'statement', []).kind;
}

/** Whether what is made of an ending is what a careful reader takes it for. */
function isRight(verdict: Ending['verdict'], judged: PromiseVerdict['kind']): boolean {
  if (verdict === 'missed') return judged === 'in-doubt' || judged === 'near-miss';
  return (judged === 'stated') === (verdict === 'done');
}

test.for(Object.entries(TABLES))('endings: %s', ([, endings]) => {
  const judged = endings.map((ending) => ({ ...ending, judged: judge(ending.text) }));
  expect(judged.filter((each) => !isRight(each.verdict, each.judged))).toEqual([]);
});

const JUDGED: Readonly<Record<PromiseVerdict['kind'], Misread['verdict']>> = {
  stated: 'accepted',
  'in-doubt': 'asked back',
  'near-miss': 'near miss',
  absent: 'nothing',
};

test.for(Object.entries(MISREAD))('endings that are easily misread: %s', ([, endings]) => {
  const judged = endings.map((ending) => ({ ...ending, judged: JUDGED[judge(ending.text)] }));
  expect(judged.filter((each) => each.judged !== each.verdict)).toEqual([]);
});

test('there are many of them, and no two are the same', () => {
  const texts = (endings: readonly { text: string }[]) => new Set(endings.map(({ text }) => text));
  expect(Object.keys(LANGUAGES)).toHaveLength(12);
  expect(texts(UNFINISHED).size).toBeGreaterThanOrEqual(600);
  expect(texts([...DONE, ...MISSED]).size).toBeGreaterThanOrEqual(300);
});

/** The same numbers between 0 and 1 for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Mutation = (text: string, random: () => number) => string;

function pick<X>(from: readonly X[], random: () => number): X {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}

function eachLine(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

/** White space that changes nothing. */
const SPACES: readonly Mutation[] = [
  (text) => `${text}\n`,
  (text) => `${text}  \n\n \n`,
  (text) => `\n\n${text}`,
  (text) => text.replace(/\r?\n/g, '\r\n'),
  (text) => text.replaceAll('\n\n', '\n\n\n'),
  (text) => text.replaceAll('\n\n', '\n \t\n'),
  // Before a carriage return: blanks behind one would make two line ends of it.
  (text, random) => text.replace(/(?<!\r)(?=\r?$)/gm, () => ' '.repeat(Math.floor(random() * 4))),
  (text) => text.replace(/(?<=\w) (?=\w)/g, '  '),
  (text) => `${text}\u00a0`,
  (text) => `\u001b[2m${text}\u001b[0m`,
];

/** Emphasis before a block makes another block of it, or none; so it does before the time of a log. */
function emphasised(text: string, sign: string): string {
  const isBlock = /^(?:[>#]|\[?\d+:)/.test(text) || (text.includes('\n') && !/^\p{L}/u.test(text));
  return isBlock ? text : `${sign}${text}${sign}`;
}

/** Markdown around a message, in which nothing is said that was not said without. */
const WRAPPINGS: readonly Mutation[] = [
  (text) => emphasised(text, '**'),
  (text) => emphasised(text, '_'),
  (text) => eachLine(text, (line) => `> ${line}`),
  (text) => eachLine(text, (line) => `- ${line}`),
  (text) => eachLine(text, (line) => `    ${line}`),
  (text) => eachLine(text, (line) => `\t${line}`),
  (text) => `\`\`\`\n${text}\n\`\`\``,
  (text) => `~~~~md\n${text}\n~~~~\n`,
  (text) => `<details>\n${text}\n</details>`,
  (text) => `<think>${text}</think>`,
  (text) => `# Report\n\n${text}`,
  (text) => `---\n${text}`,
  (text) => `| a |\n|---|\n\n${text}`,
  (text) => `I looked at everything again.\n\n${text}`,
  (text) => `- [x] looked at\n\n${text}`,
];

/** What an ending leaves open swallows what is joined to it, or may: a fence, an element, a command. */
function leavesOpen(text: string): boolean {
  const fences = text.match(/`{3,}|~{3,}/g) ?? [];
  const tags = text.match(/<(?!\/|promise|!)[a-z][^<>]*>/gi)?.length ?? 0;
  const closings = text.match(/<\/(?!promise)/gi)?.length ?? 0;
  const brackets = text.match(/[{[(]$/gm)?.length ?? 0;
  const closed = text.match(/^\s*[}\])]/gm)?.length ?? 0;
  return (
    fences.length % 2 === 1 ||
    new Set(fences.map((fence) => fence.length)).size > 1 ||
    tags !== closings ||
    brackets > closed ||
    /(?:[,“]|['"];)$/.test(text) ||
    (text.includes('<!--') && !text.includes('-->')) ||
    /^\{.*[^}]$|^(?:[$%❯⎿λ]|PS) |^(?:\\begin|#\+BEGIN|:::|"""|\/\*|cat .*<<|@@ )/m.test(text) ||
    /^(?:\[?\w+@\S+ |\(venv\)|[A-Z]:\\|In \[|bash-|╰|[●⏺] )/m.test(text)
  );
}

describe('mutated at random', () => {
  const ROUNDS = nightly(4, 40);

  interface Mutant {
    readonly text: string;
    readonly mutated: string;
  }

  /** Those of some mutations of each text that are stated, or are not. */
  function mutants(
    endings: readonly Ending[],
    kind: 'stated' | 'not stated',
    mutate: Mutation,
  ): readonly Mutant[] {
    return endings.flatMap(({ text }) => {
      const random = randomFrom(text.length * 7);
      return Array.from({ length: ROUNDS }, () => ({ text, mutated: mutate(text, random) })).filter(
        ({ mutated }) => (judge(mutated) === 'stated') === (kind === 'stated'),
      );
    });
  }

  const wrap: Mutation = (text, random) =>
    pick(SPACES, random)(pick(WRAPPINGS, random)(text, random), random);
  const space: Mutation = (text, random) =>
    pick(SPACES, random)(pick(SPACES, random)(text, random), random);

  test.for(inGroups(UNFINISHED, 50))('unfinished stays unfinished: %s', ([, endings]) => {
    expect(mutants(endings, 'stated', wrap)).toEqual([]);
    expect(mutants(endings, 'stated', space)).toEqual([]);
  });

  test.for(inGroups(DONE, 50))('white space takes nothing from a statement: %s', ([, endings]) => {
    expect(mutants(endings, 'not stated', space)).toEqual([]);
  });

  // A promise needs a finished paragraph above; what is joined to it may be none.
  // What begins with blanks belongs to an item above.
  const joinable = DONE.filter(
    ({ text }) =>
      /^\S/.test(text) && /\p{L}/u.test(text.replace(/<promise>|<.promise>|COMPLETE/g, '')),
  );
  const closed = UNFINISHED.filter(({ text }) => !leavesOpen(text));

  test('most endings can be joined', () => {
    expect(closed.length).toBeGreaterThan(UNFINISHED.length * 0.85);
    expect(joinable.length).toBeGreaterThan(DONE.length * 0.8);
  });

  test.for(inGroups(closed, 50))('a statement behind it is done: %s', ([, endings]) => {
    const join: Mutation = (text, random) => `${text}\n\n${pick(joinable, random).text}`;
    expect(mutants(endings, 'not stated', join)).toEqual([]);
  });

  test.for(inGroups(UNFINISHED, 50))('behind a statement it is not done: %s', ([, endings]) => {
    const join: Mutation = (text, random) => `${pick(DONE, random).text}\n\n${text}`;
    expect(mutants(endings, 'stated', join)).toEqual([]);
  });
});

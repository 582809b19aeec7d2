import { describe, expect, test } from 'vitest';
import { makeBriefing } from '../../../../src/core/task/briefing.ts';
import type { BriefingSources, JournalEntry } from '../../../../src/core/task/briefing-sources.ts';
import { laterBy } from '../../../../src/core/task/task-state.ts';
import { renderPage } from '../../../../src/report/briefing/html/page.ts';
import { briefIteration, briefingSources, foundRun } from '../../../helpers/brief-task.ts';
import { START } from '../../../helpers/new-task.ts';

const page = (changes: Partial<BriefingSources> = {}): string =>
  renderPage(makeBriefing(briefingSources(changes)));

test('the page says what is left of the budget of the day, and marks one that is spent', () => {
  const until = '2026-01-07T00:00:00.000Z';
  const tile = (spentUsd: number): string | undefined =>
    /<div class="tile [^"]*"><dt>Left today.*?<\/div>/.exec(
      page({ day: { spentUsd, maxUsd: 5, leftUsd: Math.max(0, 5 - spentUsd), until } }),
    )?.[0];
  expect(tile(3)).toBe(
    '<div class="tile "><dt>Left today</dt><dd class="num">$2.00 of $5.00</dd></div>',
  );
  expect(tile(6)).toBe(
    '<div class="tile cut"><dt>Left today</dt><dd class="num">$0.00 of $5.00</dd></div>',
  );
  expect(page()).not.toContain('Left today');
});

const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&lt;`;
const ended = { finished_at: laterBy(START, 600_000) };

/** Everything that stands in an agent's or a user's hands, with markup in it. */
const hostile: Partial<BriefingSources> = {
  runs: [
    foundRun('t', {
      ...ended,
      status: 'failed',
      task_prompt: EVIL,
      task_type: EVIL,
      completion_promise: EVIL,
      exit_reason: EVIL,
      errors: [{ at: START, iteration: 1, attempt: 1, kind: EVIL, message: EVIL }],
      progress: { steps_total: 2, steps_completed: 1, current_step: EVIL, percentage: 50 },
    }),
  ],
  journal: [
    {
      kind: 'iteration',
      taskId: 't',
      iteration: briefIteration(1, 1, {
        outcome: EVIL,
        detail: EVIL,
        output_preview: EVIL,
        refused: [EVIL],
      }),
    },
    { kind: 'iteration', taskId: 't', iteration: briefIteration(2) },
    {
      kind: 'happening',
      taskId: 't',
      happening: { event: 'claim_held', at: START, detail: EVIL },
      finalMessage: EVIL,
    },
  ],
  notes: [{ file: `/${EVIL}`, reason: 'FAILED', taskId: EVIL, at: START }],
  requests: [{ file: `/${EVIL}`, taskId: EVIL, at: START }],
};

/** The tags of a page, each with its attributes; throws where one does not parse. */
function tagsOf(
  text: string,
): readonly { name: string; attributes: ReadonlyMap<string, string> }[] {
  const body = text.replace(/<style>[\s\S]*?<\/style>/, '<style></style>');
  const parts = body.match(/<[^>]*>?/g) ?? [];
  return parts
    .filter((part) => !part.startsWith('</') && !part.startsWith('<!'))
    .map((part) => {
      const tag = /^<([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*>$/.exec(part);
      if (tag === null) throw new Error(`no tag: ${part}`);
      const attributes = [...(tag[2] ?? '').matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)];
      return {
        name: tag[1] ?? '',
        attributes: new Map(attributes.map(([, name = '', value = '']) => [name, value])),
      };
    });
}

describe('the page', () => {
  test.for([
    ['empty', {}],
    ['of hostile texts', hostile],
  ] as const)('a page that is %s loads nothing and runs nothing', ([, changes]) => {
    for (const { name, attributes } of tagsOf(page(changes))) {
      expect([
        'script',
        'img',
        'link',
        'iframe',
        'object',
        'embed',
        'form',
        'base',
        'use',
        'image',
      ]).not.toContain(name);
      for (const [attribute, value] of attributes) {
        expect(attribute).not.toMatch(/^on|^(src|srcset|action|data|background|ping)$/);
        if (attribute === 'href') expect(value).toMatch(/^#task-\d+$/);
        expect(value).not.toMatch(/url\(|https?:/);
      }
    }
    const style = /<style>([\s\S]*?)<\/style>/.exec(page(changes))?.[1] ?? '';
    expect(style).not.toMatch(/url\(|@import|https?:/);
  });

  test('forbids the browser everything else', () => {
    const policy = tagsOf(page()).find(({ attributes }) => attributes.has('http-equiv'));
    expect(policy?.attributes.get('content')).toBe(
      'default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;',
    );
  });

  test('closes every tag, whatever texts it has', () => {
    const open: string[] = [];
    const body = page(hostile).replace(/<style>[\s\S]*?<\/style>/, '');
    for (const [tag, slash, name = ''] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (['meta'].includes(name)) continue;
      if (slash === '') open.push(name);
      else expect([tag, open.pop()]).toEqual([tag, name]);
    }
    expect(open).toEqual([]);
  });

  test('tells how to look back and land, where there is something to tell', () => {
    const work_tree = { path: '/r', branch: EVIL, base: 'abc', onto: 'main', origin: '/r' };
    const git = { snapshots: 'refs/ralph/t', work_tree };
    const text = page({ runs: [foundRun('t', { ...ended, git })] });
    expect(text).toContain('<code>ralph diff t --vault /vault</code>');
    expect(text).toContain('<code>ralph undo t --vault /vault</code>');
    expect(text).toContain('<code>ralph land t --vault /vault</code>');
    expect(text).not.toContain(EVIL);
    const bare = page({ runs: [foundRun('t', { ...ended, iterations: [briefIteration(1)] })] });
    expect(bare).not.toMatch(/ralph (diff|undo|land)/);
  });

  test('tells what happened to a task in the words of the run', () => {
    const happening = (event: string, fields: object = {}): JournalEntry => ({
      kind: 'happening',
      taskId: 't',
      happening: { event, at: START, ...fields },
      finalMessage: null,
    });
    const journal = [
      happening('task_started'),
      happening('claim_held', { detail: 'npm test exited with 1' }),
      happening('iteration_reverted', { iteration: 2 }),
      happening('task_of_a_newer_ralph', { status: 'odd', exit_code: 1 }),
      happening('finding', { detail: 'said by another line' }),
      happening('task_completed', { status: 'completed', exit_reason: 'completed', exit_code: 0 }),
    ];
    const text = page({ runs: [foundRun('t', { ...ended, task_prompt: 'Do it.' })], journal });
    const story = /<ol class="story"[\s\S]*?<\/ol>/.exec(text)?.[0] ?? '';
    expect([...story.matchAll(/<span>(.*?)<\/span>/g)].map(([, line]) => line)).toEqual([
      'started',
      'not accepted: npm test exited with 1',
      'iteration reverted',
      'task of a newer ralph',
      'completed: Do it.',
    ]);
  });

  test('says what completes a task, and proves nothing by the state of another user', () => {
    const evidence = {
      kind: 'promise',
      detail: 'DONE',
      proof: { proven: true, text: 'npm test (2 tests)', findings: [] },
    } as const;
    const run = foundRun('t', { ...ended, status: 'completed', evidence });
    const own = page({ runs: [run] });
    expect(own).toContain('<dt>done when</dt><dd>the agent states TASK_COMPLETE</dd>');
    expect(own).toContain('<dt>proof</dt><dd>proven: npm test (2 tests)</dd>');
    const foreign = page({ runs: [{ ...run, shown: { ...run.shown, isOwn: false } }] });
    expect(foreign).not.toContain('proven: npm test');
  });

  test('links only to targets that exist', () => {
    const tags = tagsOf(page(hostile));
    const ids = tags.flatMap(({ attributes }) => attributes.get('id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const links = tags.flatMap(({ attributes }) => attributes.get('href') ?? []);
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(ids).toContain(link.slice(1));
  });

  test('the page has styles for dark, light and narrow screens', () => {
    expect(page()).toContain('prefers-color-scheme: dark');
    expect(page()).toContain('name="viewport" content="width=device-width, initial-scale=1"');
    expect(page()).toMatch(/@media \(max-width: \d+rem\)/);
  });

  test('the page says whether a person is needed', () => {
    expect(page()).toContain('<h1>Nothing needs you</h1>');
    expect(page(hostile)).toContain('<h1>3 things need you</h1>');
  });

  test('the page shows a thousand iterations, each in the chart and in the table', () => {
    const journal = Array.from(
      { length: 1_000 },
      (_, index): JournalEntry => ({
        kind: 'iteration',
        taskId: 't',
        iteration: briefIteration(index + 1),
      }),
    );
    const runs = [foundRun('t', { ...ended, status: 'max_iterations_reached' })];
    const text = page({ runs, journal });
    expect(text.match(/<tr><td/g)).toHaveLength(1_000);
    const lane = /<div class="lane">[\s\S]*?<\/svg>/.exec(text)?.[0] ?? '';
    expect(lane.match(/<rect /g)).toHaveLength(1_000);
    expect(text.length).toBeLessThan(1_500_000);
  });

  test('the axis names the moments from the beginning of the work to its end', () => {
    const run = foundRun('t', {
      ...ended,
      iterations: [briefIteration(1, 0), briefIteration(2, 39)],
    });
    const axis = /<div class="axis[\s\S]*?<\/div>/.exec(page({ runs: [run] }))?.[0] ?? '';
    expect(axis.match(/left:[\d.]+%">[^<]*/g)).toEqual([
      'left:0%">2026-01-05 10:00',
      'left:25%">2026-01-05 10:10',
      'left:50%">2026-01-05 10:20',
      'left:75%">2026-01-05 10:30',
      'left:100%">2026-01-05 10:40',
    ]);
  });

  test('no bar of the page lies outside its chart', () => {
    const text = page(hostile);
    for (const [, width, height, inside = ''] of text.matchAll(
      /<svg viewBox="0 0 (\d+) (\d+)"[^>]*>([\s\S]*?)<\/svg>/g,
    )) {
      for (const [, x, y, w, h] of inside.matchAll(
        /x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
      )) {
        expect(Number(x) + Number(w)).toBeLessThanOrEqual(Number(width) + 0.01);
        expect(Number(y) + Number(h)).toBeLessThanOrEqual(Number(height) + 0.01);
      }
    }
  });
});

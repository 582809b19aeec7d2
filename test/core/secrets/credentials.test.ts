import { describe, expect, test } from 'vitest';
import { INNER_SHAPES, PREFIX_SHAPES } from '../../../src/core/secrets/secret-table.ts';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { CREDENTIALS } from '../../helpers/credential-samples.ts';
import { ORDINARY_TEXTS } from '../../helpers/ordinary-texts.ts';

const inJson = (text: string): string => JSON.stringify({ output: text });

/** A text as it comes: by itself, between other lines, in JSON, in JSON that stands in JSON. */
const FRAMES: Readonly<Record<string, (text: string) => string>> = {
  'by itself': (text) => text,
  'between other lines': (text) => `ok 1\n${text}\nok 2\n`,
  'in JSON': inJson,
  'in JSON between other lines': (text) => inJson(`ok 1\n${text}\nok 2\n`),
  'in JSON within JSON': (text) => inJson(inJson(text)),
};

/** A text in each frame, by the name of the frame, so that a difference names it. */
function inFrames(
  text: string,
  change = (framed: string): string => framed,
): Readonly<Record<string, string>> {
  const frames = Object.entries(FRAMES);
  return Object.fromEntries(frames.map(([where, frame]) => [where, change(frame(text))]));
}

describe('a credential', () => {
  test('has more than 217 forms, all different', () => {
    expect(CREDENTIALS.length).toBeGreaterThanOrEqual(217);
    expect(new Set(CREDENTIALS.map(({ text }) => text)).size).toBe(CREDENTIALS.length);
  });

  test.for([...PREFIX_SHAPES, ...INNER_SHAPES])('of $origin, $prefix, has a form here', (shape) => {
    const kept = new RegExp(`(?:${shape.prefix})…`);
    expect(CREDENTIALS.some(({ masked }) => kept.test(masked))).toBe(true);
  });

  test.for(CREDENTIALS)(
    'is masked in each frame, but for its sign, and only once: $what',
    (sample) => {
      const { text, masked } = sample;
      expect(inFrames(text, maskSecrets)).toEqual(inFrames(masked));
      expect(inFrames(masked, maskSecrets)).toEqual(inFrames(masked));
    },
  );
});

describe('an ordinary text', () => {
  test('has more than 84 forms', () => {
    expect(new Set(ORDINARY_TEXTS).size).toBeGreaterThanOrEqual(84);
  });

  test.for(ORDINARY_TEXTS)('stays unchanged in each frame: %j', (text) => {
    expect(inFrames(text, maskSecrets)).toEqual(inFrames(text));
  });
});

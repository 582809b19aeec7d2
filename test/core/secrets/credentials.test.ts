import { describe, expect, test } from 'vitest';
import { INNER_SHAPES, PREFIX_SHAPES } from '../../../src/core/secrets/secret-table.ts';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { CREDENTIALS } from '../../helpers/credential-samples.ts';
import { ORDINARY_TEXTS } from '../../helpers/ordinary-texts.ts';

const inJson = (text: string): string => JSON.stringify({ output: text });

/** A text as it comes: by itself, between other lines, in JSON, in JSON that stands in JSON. */
const FRAMES: readonly (readonly [where: string, frame: (text: string) => string])[] = [
  ['by itself', (text) => text],
  ['between other lines', (text) => `ok 1\n${text}\nok 2\n`],
  ['in JSON', inJson],
  ['in JSON between other lines', (text) => inJson(`ok 1\n${text}\nok 2\n`)],
  ['in JSON within JSON', (text) => inJson(inJson(text))],
];

describe('a credential', () => {
  test('has more than 217 forms, all different', () => {
    expect(CREDENTIALS.length).toBeGreaterThanOrEqual(217);
    expect(new Set(CREDENTIALS.map(({ text }) => text)).size).toBe(CREDENTIALS.length);
  });

  test.for([...PREFIX_SHAPES, ...INNER_SHAPES])('of $origin, $prefix, has a form here', (shape) => {
    const kept = new RegExp(`(?:${shape.prefix})…`);
    expect(CREDENTIALS.some(({ masked }) => kept.test(masked))).toBe(true);
  });

  describe.for(CREDENTIALS)('$what', ({ text, masked }) => {
    test.for(FRAMES)('is masked %s, and its sign stays', ([, frame]) => {
      expect(maskSecrets(frame(text))).toBe(frame(masked));
    });

    test.for(FRAMES)('is not masked again %s', ([, frame]) => {
      expect(maskSecrets(frame(masked))).toBe(frame(masked));
    });
  });
});

describe('an ordinary text', () => {
  test('has more than 84 forms', () => {
    expect(new Set(ORDINARY_TEXTS).size).toBeGreaterThanOrEqual(84);
  });

  describe.for(ORDINARY_TEXTS)('%j', (text) => {
    test.for(FRAMES)('stays unchanged %s', ([, frame]) => {
      expect(maskSecrets(frame(text))).toBe(frame(text));
    });
  });
});

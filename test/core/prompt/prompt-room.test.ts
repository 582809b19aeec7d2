import { expect, test } from 'vitest';
import { contextRoom, longestPrompt } from '../../../src/core/prompt/prompt-room.ts';

const text = (length: number, character = 'x'): Uint8Array =>
  new TextEncoder().encode(character.repeat(length));

const CHARACTERS = { most: 1_048_576, unit: 'characters' } as const;
const BYTES = { most: 1_048_576, unit: 'bytes' } as const;

test('the earlier output and the hints share what the prompt leaves', () => {
  expect(contextRoom(text(1_000_000), CHARACTERS)).toBe(3_808);
  expect(contextRoom(text(longestPrompt(CHARACTERS)), CHARACTERS)).toBeNull();
  expect(contextRoom(text(longestPrompt(CHARACTERS) - 1), CHARACTERS)).toBe(1);
});

test('a character may take three bytes', () => {
  const prompt = text(longestPrompt(BYTES) - 600);
  expect(contextRoom(prompt, BYTES)).toBe(100);
  expect(contextRoom(text(500_000, 'é'), CHARACTERS)).toBeGreaterThan(0);
  expect(contextRoom(text(510_000, 'é'), BYTES)).toBeNull();
});

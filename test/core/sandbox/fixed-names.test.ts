import { expect, test } from 'vitest';
import { holdsSuchNames, runsByItself } from '../../../src/core/sandbox/fixed-names.ts';

test.each([
  ['.npmrc', 'src', true],
  ['.NPMRC', 'src', true],
  ['config.toml', '.cargo', true],
  ['Config.TOML', '.Cargo', true],
  ['.rprofile', 'src', true],
  ['All.Code-Workspace', 'src', true],
  ['config.toml', 'src', false],
  ['npmrc', 'src', false],
])('whether programs run %s in a folder %s by itself is %s', (name, folder, runs) => {
  expect(runsByItself(name, folder)).toBe(runs);
});

test.each([
  ['.cargo', true],
  ['.CARGO', true],
  ['cargo', false],
])('whether a folder %s can hold such names is %s', (folder, holds) => {
  expect(holdsSuchNames(folder)).toBe(holds);
});

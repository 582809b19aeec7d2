import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  atCommand,
  commandHere,
  fromItsFolder,
  startedBy,
  taskCommand,
  worksOn,
} from '../src/printed-command.ts';

const HERE = { vault: '/shop', stateDir: '/shop/.ralph_state', keyFlag: null };
const AWAY = { vault: '/my vault', stateDir: '/s', keyFlag: '/k' };

const isFound = ({ vault }: { readonly vault: string }) => vault === HERE.vault;

beforeEach(() => {
  startedBy({ program: 'npx ralph', folder: '/shop' });
  worksOn(HERE, isFound);
});

afterAll(() => startedBy(null));

describe('a printed command', () => {
  test('names no folder that it finds by itself', () => {
    expect(taskCommand('resume', { taskId: 't', ...HERE }, ['--trust'])).toBe(
      'npx ralph resume t --trust',
    );
  });

  test('names what it would not find', () => {
    expect(taskCommand('diff', { taskId: 't', ...AWAY })).toBe(
      "npx ralph diff t --vault '/my vault' --state-dir /s --key-file /k",
    );
  });

  test('is about the folders on which the command works that prints it', () => {
    worksOn(AWAY, isFound);
    expect(commandHere('stop', 't')).toMatch(/^npx ralph stop t --vault /);
    worksOn({ ...HERE, fleetWords: ['--fleet', 'URL'] });
    expect(commandHere('stop', 't')).toBe('npx ralph stop t --fleet URL');
  });

  test('goes to its folder in a text that is read elsewhere', () => {
    expect(fromItsFolder('npx ralph diff t')).toBe('cd /shop && npx ralph diff t');
  });

  test('is told from the words before it', () => {
    expect(atCommand('t is paused; to continue: npx ralph resume t')).toEqual([
      't is paused; to continue: ',
      'npx ralph resume t',
    ]);
    expect(atCommand('nothing to continue')).toBeNull();
  });
});

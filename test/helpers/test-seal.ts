import { readKey } from '../../src/effects/trust/key.ts';
import { type Seal, sealWith } from '../../src/effects/trust/seal.ts';
import { STATE_HOME } from './state-home.ts';

/** The seal of a state folder by a key that every test knows. */
export function testSeal(stateDir: string): Seal {
  return sealWith({ bytes: Buffer.alloc(32, 7), file: '/nowhere/key', isShared: false }, stateDir);
}

/** The seal by which the tests' own user signs. */
export function ownSeal(stateDir: string): Seal {
  const key = readKey(null, { XDG_STATE_HOME: STATE_HOME }, { create: true });
  return sealWith(key, stateDir);
}

import { type Seal, sealWith } from '../../src/effects/trust/seal.ts';

/** The seal of a state folder by a key that every test knows. */
export function testSeal(stateDir: string): Seal {
  return sealWith({ bytes: Buffer.alloc(32, 7), file: '/nowhere/key', isShared: false }, stateDir);
}

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FreshCheckout } from '../branches/fresh-checkout.ts';

/** The place in a checkout where a command runs. */
export interface CheckPlace {
  /** The root of the checkout. */
  readonly folder: string;
  readonly cwd: string;
  /** The folder for temporary files; `TMPDIR` names it to the command. */
  readonly temporary: string;
}

/** Makes the folder `below`, relative to the root of a checkout, and returns it as the place for checks. */
export function placeIn({ folder, temporary }: FreshCheckout, below: string): CheckPlace {
  const cwd = path.join(folder, below);
  mkdirSync(cwd, { recursive: true });
  return { folder, cwd, temporary };
}

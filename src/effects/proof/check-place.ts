import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FreshCheckout } from '../branches/fresh-checkout.ts';

/** Where a command runs in a checkout. */
export interface CheckPlace {
  /** The root of the checkout. */
  readonly folder: string;
  readonly cwd: string;
  /** For `TMPDIR`. */
  readonly temporary: string;
}

/** Returns the folder of a checkout that is `below` in the work tree, relative to its root; makes it. */
export function placeIn({ folder, temporary }: FreshCheckout, below: string): CheckPlace {
  const cwd = path.join(folder, below);
  mkdirSync(cwd, { recursive: true });
  return { folder, cwd, temporary };
}

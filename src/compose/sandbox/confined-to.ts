import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXED_IN_GIT } from '../../core/sandbox/fixed-names.ts';
import type { Confine } from '../../effects/processes/find-program.ts';
import type { CheckPlace } from '../../effects/proof/check-place.ts';
import type { OwnPlace, Sandbox } from '../../effects/sandbox/sandbox.ts';

/** What a command is started with, if it runs in the sandbox. */
interface Confined {
  readonly confine?: Confine;
}

/** Returns what puts a check into the sandbox; nothing where checks run outside. */
export function confinedTo(sandbox: Sandbox | null): Confined {
  if (sandbox?.rules.checksInside !== true) return {};
  return { confine: (command) => sandbox.wrap(command, 'check') };
}

/** Returns what puts the check of a checkout into the sandbox. */
export function confinedToCheckout(sandbox: Sandbox | null, checkout: CheckPlace): Confined {
  if (sandbox?.rules.checksInside !== true) return {};
  const place = checkoutPlace(checkout);
  return { confine: (command) => sandbox.wrap(command, 'check', place) };
}

/** Returns the sandbox of a run as an agent has it that works in a checkout: it may write there, too. */
export function inCheckout(sandbox: Sandbox, checkout: CheckPlace): Sandbox {
  const place = checkoutPlace(checkout);
  return { ...sandbox, wrap: (command, as) => sandbox.wrap(command, as, place) };
}

/**
 * Returns the place of a check in a checkout. It may write there, but not what git obeys: a person may look at
 * the checkout later. Only what exists can be held, so what is missing is made, and says nothing.
 */
function checkoutPlace({ folder, temporary }: CheckPlace): OwnPlace {
  const gitDir = path.join(folder, '.git');
  mkdirSync(path.join(gitDir, 'hooks'), { recursive: true });
  writeFileSync(path.join(gitDir, 'commondir'), '.\n');
  writeFileSync(path.join(gitDir, 'config.worktree'), '');
  const fixed = FIXED_IN_GIT.map((name) => path.join(gitDir, name));
  return { writable: [folder], fixed, temporary };
}

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXED_IN_GIT } from '../../core/sandbox/fixed-names.ts';
import type { Confine } from '../../effects/processes/find-program.ts';
import type { CheckPlace } from '../../effects/proof/check-place.ts';
import type { OwnPlace, Sandbox } from '../../effects/sandbox/sandbox.ts';

interface Confined {
  readonly confine?: Confine;
}

/** Returns the option that starts a check in the sandbox; an empty object if checks run outside. */
export function confinedTo(sandbox: Sandbox | null): Confined {
  if (sandbox?.rules.checksInside !== true) return {};
  return { confine: (command) => sandbox.wrap(command, 'check') };
}

/** Returns the option that starts a check in the sandbox, in a checkout to which it may write. */
export function confinedToCheckout(sandbox: Sandbox | null, checkout: CheckPlace): Confined {
  if (sandbox?.rules.checksInside !== true) return {};
  const place = checkoutPlace(checkout);
  return { confine: (command) => sandbox.wrap(command, 'check', place) };
}

/** Returns a run's sandbox for an agent that works in a checkout: in addition, the agent may write there. */
export function inCheckout(sandbox: Sandbox, checkout: CheckPlace): Sandbox {
  const place = checkoutPlace(checkout);
  return { ...sandbox, wrap: (command, as) => sandbox.wrap(command, as, place) };
}

/**
 * Returns the rules for a check in a checkout: it may write there, except for files that git obeys, because a person
 * may use git there later. Only existing files can be protected, so missing ones are created.
 */
function checkoutPlace({ folder, temporary }: CheckPlace): OwnPlace {
  const gitDir = path.join(folder, '.git');
  mkdirSync(path.join(gitDir, 'hooks'), { recursive: true });
  writeFileSync(path.join(gitDir, 'commondir'), '.\n');
  writeFileSync(path.join(gitDir, 'config.worktree'), '');
  const fixed = FIXED_IN_GIT.map((name) => path.join(gitDir, name));
  return { writable: [folder], fixed, temporary };
}

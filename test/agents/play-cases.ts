import { describe, test } from 'vitest';
import type { RealAgent } from '../helpers/install-agents.ts';
import { ACCEPTANCE, whyNot } from './cases.ts';

/** Plays every case with this agent. One that it cannot tell is skipped, and its title says why. */
export function playCases(agent: RealAgent): void {
  describe(`the real ${agent}`, () => {
    for (const acceptance of ACCEPTANCE) {
      if (acceptance.of?.includes(agent) === false) continue;
      const why = whyNot(acceptance.row, agent);
      if (why === null) test(acceptance.title, () => acceptance.play(agent));
      else test.skip(`${acceptance.title} (${why})`);
    }
  });
}

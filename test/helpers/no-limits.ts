import type { SignLimits } from '../../src/core/supervisor/supervisor.ts';

/** Every sign is off. */
export const NO_LIMITS: SignLimits = {
  sameFailing: null,
  sameCall: null,
  refused: null,
  tokens: null,
  subAgents: null,
  moneyUsd: null,
};

import type { Told } from '../agent/agent.ts';
import { AGENTS, type AgentName } from '../agent/agents/agents.ts';
import type { SignName } from '../agent/sign.ts';
import type { Settings } from '../settings/settings.ts';
import type { SignLimits } from './supervisor.ts';

interface SignRow {
  readonly setting:
    | 'sameFailingLimit'
    | 'sameCallLimit'
    | 'refusedLimit'
    | 'maxIterationTokens'
    | 'maxSubagents'
    | 'maxCost';
  /** What an agent has to report while it works for the sign to be noticed. */
  readonly needs: Told;
  /** Whether the sign is reported before it ends the iteration. */
  readonly isToldFirst: boolean;
}

/** All signs that an iteration goes wrong, and their limits. Their descriptions are in `core/agent/sign.ts`. */
export const SIGNS: Readonly<Record<SignName, SignRow>> = {
  'same-failing-call': { setting: 'sameFailingLimit', needs: 'calls', isToldFirst: true },
  'same-call': { setting: 'sameCallLimit', needs: 'calls', isToldFirst: true },
  refused: { setting: 'refusedLimit', needs: 'refusals', isToldFirst: true },
  tokens: { setting: 'maxIterationTokens', needs: 'tokens', isToldFirst: false },
  subagents: { setting: 'maxSubagents', needs: 'sub-agents', isToldFirst: false },
  money: { setting: 'maxCost', needs: 'cost', isToldFirst: false },
};

/** Whether the agent reports, while it works, what is needed to notice a sign. */
export function isTold(sign: SignName, agent: AgentName): boolean {
  return AGENTS[agent].tells.includes(SIGNS[sign].needs);
}

type SupervisorSettings = Pick<Settings, 'supervise' | Exclude<SignRow['setting'], 'maxCost'>>;

/** Returns the limits for an attempt of an agent. `moneyUsd` is what is left of the budget; null without a budget. */
export function limitsOf(
  settings: SupervisorSettings,
  agent: AgentName,
  moneyUsd: number | null,
): SignLimits {
  // `settings` is not copied: it may have a getter for the time zone, which a copy would call, and which is slow.
  const limit = (sign: SignName): number | null => {
    const { setting } = SIGNS[sign];
    const most = setting === 'maxCost' ? moneyUsd : settings[setting];
    return settings.supervise && isTold(sign, agent) && most !== 0 ? most : null;
  };
  return {
    sameFailing: limit('same-failing-call'),
    sameCall: limit('same-call'),
    refused: limit('refused'),
    tokens: limit('tokens'),
    subAgents: limit('subagents'),
    moneyUsd: limit('money'),
  };
}

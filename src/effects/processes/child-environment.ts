import { AGENT_NAMES, AGENTS } from '../../core/agent/agents/agents.ts';

/** Variables that make a child agent believe it runs inside another one. */
const NOT_FOR_THE_CHILD = AGENT_NAMES.flatMap((name) => AGENTS[name].nestingVariables);

/** Returns a copy of an environment that is fit for an agent. */
export function forAgent(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...env };
  for (const name of NOT_FOR_THE_CHILD) delete own[name];
  return own;
}

/** Variables that make a child `claude` believe it runs inside another one. */
const NOT_FOR_THE_CHILD = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT'];

/** Returns a copy of an environment that is fit for an agent. */
export function forAgent(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...env };
  for (const name of NOT_FOR_THE_CHILD) delete own[name];
  return own;
}

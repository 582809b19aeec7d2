import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { text, together } from '../helpers/api-replies.ts';
import { makeAgentScene, shell } from '../helpers/real-agents.ts';
const agents = (process.env.PROBE ?? 'codex').split(',') as any[];
test.for(agents)('%s', async (agent) => {
  const scene = await makeAgentScene(agent, [together(text('I look.'), shell(agent, 'echo hi > made')), text('Half.'), text('All.\n\n<promise>DONE</promise>')]);
  const t = performance.now();
  const end = await scene.run(['--promise', 'DONE', '-n', '2', '--dangerously-skip-permissions']);
  writeFileSync(`/tmp/probe-${agent}.json`, JSON.stringify({ ms: performance.now()-t, end, state: (() => { try { return scene.state() } catch (e) { return String(e) } })(), made: scene.has('made'), requests: scene.api.requests.map(r => ({kind:r.kind, method:r.method, path:r.path, n: r.body?.messages.length, tools: r.body?.tools.length, head: r.raw.slice(0,300)})) }, null, 1));
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRun } from '../../compose/run.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import { type Layer, layerOf } from '../../core/settings/setting-source.ts';
import { requirePlan } from '../../effects/plan/run-plan.ts';
import { promptPreview } from '../../effects/plan/task-facts.ts';
import { announcements } from '../run/run-notices.ts';
import { viewFor } from '../run/start-run.ts';
import { say } from '../terminal/outlet.ts';

const PROMPT = `Write greeting.txt with one friendly line in it.
When the file is there and you have read it back, state the promise GREETING_READY.
`;

/** `ralph demo`: runs the real loop with a demo agent, in a temporary folder. */
export async function demo(): Promise<number> {
  const vault = await mkdtemp(path.join(tmpdir(), 'ralph-demo-'));
  try {
    const resolved = resolveSettings([demoLayer(vault)]);
    const plan = await requirePlan({
      ...resolved,
      taskType: 'default',
      passthrough: [],
      startDir: vault,
      env: process.env,
      newTaskId: () => 'demo',
    });
    const view = await viewFor(plan.settings, {
      ...{ agent: plan.policy.agent, asked: promptPreview(plan) },
      task: null,
    });
    view.notice(
      'This is the real loop with a stand-in agent: no account, no network, nothing kept.',
    );
    const { fields } = await startRun({
      plan,
      view,
      announcements: announcements(plan),
      agentPrefixArgs: [fileURLToPath(new URL('stand-in-agent.js', import.meta.url))],
    });
    if (fields.final_message !== null) {
      process.stdout.write(`${fields.final_message}\n`);
    }
    say('the folder of the demo is removed again');
    return fields.exit_code;
  } finally {
    await rm(vault, { recursive: true, force: true });
  }
}

/** Returns the settings of the demo, which are used without the user's variables and configuration. */
function demoLayer(vault: string): Layer {
  const values = {
    prompt: PROMPT,
    promise: 'GREETING_READY',
    verify: 'test -s greeting.txt',
    delay: '300ms',
    vault,
    cwd: vault,
    taskId: 'demo',
    permissionMode: 'acceptEdits',
    agentBin: process.execPath,
  };
  return layerOf(values, () => ({ kind: 'flag', where: 'ralph demo' }));
}

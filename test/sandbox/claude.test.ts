import { cpSync, existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { text, together } from '../helpers/api-replies.ts';
import { CLAUDE_BIN_DIR } from '../helpers/install-claude.ts';
import { startMessagesApi } from '../helpers/messages-api.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { until } from '../helpers/processes.ts';
import { loopbackEnv } from '../helpers/real-claude.ts';
import { bash, WITH_BASH } from '../helpers/real-scene.ts';
import { outside } from '../helpers/sandbox-scene.ts';
import { livingIn, newRun, ranRalph, sandboxedRuns, stateOf } from '../helpers/sandboxed-ralph.ts';
import { letLimitPass, TOLD_CLOCK_FILE, TOLD_LIMIT } from '../helpers/told-clock.ts';

// The real `claude` in the sandbox, against a stand-in for its model on this machine.

/** Tries to change what a later session outside would run. */
const OVERWRITE = ['statusline.sh', 'scripts/x', 'shell-snapshots/other.sh']
  .map((name) => `echo bad > "$HOME/.claude/${name}"; rm -f "$HOME/.claude/${name}"`)
  .join('; ');

test('a time-out while a Bash tool runs keeps the cost and leaves nothing; the next iteration completes', async () => {
  const mark = `9${process.pid}5`;
  const tool = bash(
    `touch tool-was-here; ${OVERWRITE}; touch "$HOME/escaped"; trap '' INT TERM HUP; setsid env -i sleep ${mark} & sleep ${mark}`,
  );
  const api = await startMessagesApi([together(text('Testing.'), tool), text('TASK_COMPLETE')]);
  onTestFinished(() => api.close());
  const { env, ...scene } = await sandboxedRuns('');
  const agent = join(scene.base, 'bin', 'real-claude');
  // Its own folder is root's alone.
  cpSync(realpathSync(join(CLAUDE_BIN_DIR, 'claude')), agent);
  // The folder of this checkout may be root's alone, too.
  const clock = join(scene.base, 'bin', 'told-clock.cjs');
  cpSync(TOLD_CLOCK_FILE, clock);
  const told = { NODE_OPTIONS: `--require ${clock}` };
  const sealed = { ...scene, env: { ...env, ...loopbackEnv(api), ...told }, agent };
  await outside(
    { ...scene, env },
    'cd "$HOME/.claude" && mkdir shell-snapshots scripts && echo mine | tee statusline.sh scripts/x shell-snapshots/other.sh',
  );
  const limits = ['--iteration-timeout', TOLD_LIMIT, '--delay', '0', '--promise', 'TASK_COMPLETE'];
  const ran = ranRalph(sealed, newRun(sealed, ...WITH_BASH, ...limits));
  await until(
    () => existsSync(join(scene.work, 'tool-was-here')),
    () => 'the tool',
  );
  letLimitPass(scene.work);
  const { exitCode, stderr } = await ran;
  expect(stderr).toContain('timed out (iteration limit)');
  expect(exitCode).toBe(0);
  const { iterations, usage, sandbox } = await stateOf(sealed);
  expect(sandbox.planted).toEqual([]);
  expect(iterations).toMatchObject([{ outcome: 'timed-out', tools: 1 }, { outcome: 'answered' }]);
  expect(iterations[0].cost_usd).toBeGreaterThan(0);
  expect(iterations[0].duration_ms).toBeLessThan(PATIENCE_MS);
  expect(usage.cost_usd).toBeCloseTo(iterations[0].cost_usd + iterations[1].cost_usd, 6);
  expect(livingIn(sealed, mark)).toEqual([]);
  const own = 'cd "$HOME/.claude" && cat statusline.sh scripts/x shell-snapshots/other.sh; ls';
  expect(await outside(sealed, own)).toMatch(/^mine\nmine\nmine\n[\s\S]*^projects$/m);
  expect(await outside(sealed, 'ls; ls "$HOME"')).toMatch(/tool-was-here/);
  expect(await outside(sealed, 'ls "$HOME"')).not.toMatch(/escaped/);
});

import { statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { error, many, type Reply, text, together, toolUse, USAGE } from '../helpers/api-replies.ts';
import { untilPid } from '../helpers/background.ts';
import { CONFORMANCE } from '../helpers/conformance.ts';
import { agentBinFolder, type RealAgent } from '../helpers/install-agents.ts';
import { livingIn, untilNobodyIn } from '../helpers/living-in.ts';
import type { ApiScript } from '../helpers/messages-api.ts';
import { until } from '../helpers/processes.ts';
import { type AgentScene, makeAgentScene, shell } from '../helpers/real-agents.ts';
import type { RalphEnd } from '../helpers/run-ralph.ts';
import { letLimitPass, TOLD_CLOCK, TOLD_LIMIT, TOLD_LIMIT_MS } from '../helpers/told-clock.ts';

/*
 * What has to hold with each real agent. A case that an agent cannot tell names the row of the conformance
 * table that says why; the same words stand in docs/agents.md.
 */
interface AcceptanceCase {
  readonly title: string;
  /** The title of the row in the conformance table that decides whether the agent can tell it. */
  readonly row?: string;
  /** The agents that it is about; all if not given. */
  readonly of?: readonly RealAgent[];
  play(agent: RealAgent): Promise<void>;
}

/** Returns why the agent cannot tell what this row of the conformance table is about; null if it can. */
export function whyNot(row: string | undefined, agent: RealAgent): string | null {
  if (row === undefined) return null;
  const found = CONFORMANCE.find(({ title }) => title === row);
  if (found === undefined) throw new Error(`the conformance table has no row “${row}”`);
  const played = found.agents[agent];
  return typeof played === 'string' ? played : null;
}

const PROMISED = 'All done.\n\n<promise>DONE</promise>';
const EARLY = 'When all is green I say:\n\n<promise>DONE</promise>';
const DENIAL = 'Two tests still fail.';
const DONE = ['--promise', 'DONE'] as const;
const WITH_TOOLS = [...DONE, '--dangerously-skip-permissions'] as const;
const TOOL_NAMES = /command_execution|run_shell_command|bash/;
/** An iteration limit that is reached when the test says so. */
const LIMIT = ['--iteration-timeout', TOLD_LIMIT] as const;
/** No attempt after the first one, and no wait. */
const ONCE = ['--retries', '0', '--max-wait', '0'] as const;

/** qwen and copilot count by what they guess of the model; this fits, and 1 MB does not. In bytes. */
const LONG_PROMPTS: Partial<Record<RealAgent, number>> = { qwen: 500_000, copilot: 200_000 };

/** Where ralph keeps what the agent prints. */
const PRINTED = '.ralph_state/t/iteration-0001.stdout.log';

/** By these, the client libraries of the agents wait no longer than this between their own retries. */
const AT_ONCE = { 'retry-after-ms': '10', 'retry-after': '0' } as const;

/** A tool that goes on for long and ignores what it is told, as does what it started. */
const LONG_COMMAND =
  "trap '' INT TERM HUP; sh -c 'echo $$ > child.pid; exec sleep 600' & echo $$ > tool.pid; wait";

function longStep(agent: RealAgent): Reply {
  return together(text('Testing.'), shell(agent, LONG_COMMAND));
}

async function untilTool({ folder }: AgentScene): Promise<void> {
  await untilPid(join(folder, 'tool.pid'));
  await untilPid(join(folder, 'child.pid'));
}

const TOOL_OUTPUT = /"function_call_output"|"functionResponse"|"role":"tool"/;

/** A tool call in each iteration, and then its ending as often as the agent asks; each iteration is a new session. */
function endings(step: Reply, replies: readonly Reply[]): ApiScript {
  let iteration = -1;
  return ({ raw }) => {
    if (TOOL_OUTPUT.test(raw)) return replies[iteration] ?? text('One iteration too many.');
    iteration += 1;
    return step;
  };
}

/** A call that the agent refuses as it is set up by itself. */
function refusedCall(agent: RealAgent): Reply {
  if (agent !== 'codex') return shell(agent, 'touch made');
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'It needs more.' };
  return toolUse('exec_command', { cmd: 'touch made', ...escalated });
}

/** How the service of each agent says that something is wrong. */
function failure(agent: RealAgent, status: number): Reply {
  const types: Readonly<Record<number, readonly [type: string, message: string]>> =
    agent === 'gemini'
      ? {
          401: ['UNAUTHENTICATED', 'The key is not valid.'],
          404: ['NOT_FOUND', 'models/x is not found for API version v1beta.'],
          429: ['RESOURCE_EXHAUSTED', 'Too many requests.'],
          500: ['INTERNAL', 'Internal error.'],
        }
      : {
          401: ['invalid_api_key', 'The key is not valid.'],
          404: ['model_not_found', 'The model does not exist or you do not have access to it.'],
          429: ['rate_limit_exceeded', 'Too many requests.'],
          500: ['server_error', 'Internal error.'],
        };
  const [type, message] = types[status] ?? ['unknown', 'Unknown.'];
  if (status !== 429) return error(status, type, message);
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.1s' }];
  return error(status, type, message, AT_ONCE, agent === 'gemini' ? { details } : {});
}

export const ACCEPTANCE: readonly AcceptanceCase[] = [
  {
    title: 'two iterations to a promise: sessions, tool lines, nothing refused',
    async play(agent) {
      const step = together(text('First I look.'), shell(agent, 'echo one > made'));
      const scene = await makeAgentScene(agent, [step, text('Half of it.'), text(PROMISED)]);
      await scene.write('notes.md', 'the-content-of-the-notes\n');
      const prompt = ['--prompt', 'Do what @notes.md says.'];
      const end = await scene.run([...WITH_TOOLS, ...prompt, '--verbose']);
      expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
      expect(end.stderr).toMatch(TOOL_NAMES);
      expect(scene.has('made')).toBe(true);
      const [first, , second] = scene.api.mainCalls;
      expect(scene.api.mainCalls).toHaveLength(3);
      expect(second?.body?.messages).toHaveLength(first?.body?.messages.length ?? 0);
      expect(second?.raw).toContain('Half of it.');
      expect(scene.state()).toMatchObject({
        iterations: [
          { outcome: 'answered', refused: [], tools: 1 },
          { outcome: 'answered', refused: [], completed: true },
        ],
      });
      // ralph says which agents put the file in place of its name.
      const isAdded = scene.api.wasSent('the-content-of-the-notes');
      expect(end.stderr.includes('with an @ (@notes.md)')).toBe(isAdded);
      expect(isAdded).toBe(agent === 'gemini' || agent === 'qwen');
    },
  },
  {
    title: 'tokens in the state, in status and in the report',
    row: 'tokens',
    async play(agent) {
      const scene = await makeAgentScene(agent, [shell(agent, 'true'), text(PROMISED)]);
      expect((await scene.run(WITH_TOOLS)).exitCode).toBe(0);
      const { usage } = scene.state();
      // qwen makes calls of its own after an answer, and counts them.
      expect(usage.input_tokens % USAGE.input_tokens).toBe(0);
      expect(usage.input_tokens).toBeGreaterThanOrEqual(2 * USAGE.input_tokens);
      if (agent !== 'qwen') expect(usage.input_tokens).toBe(2 * USAGE.input_tokens);
      expect(usage.output_tokens).toBe((usage.input_tokens / 1000) * USAGE.output_tokens);
      const status = await scene.ralph(['status', 't', '--json']);
      expect(status.stdout).toContain(`"input_tokens": ${usage.input_tokens}`);
      if (agent === 'opencode') expect(usage.cost_usd).toBeGreaterThan(0);
    },
  },
  {
    title: 'a promise before a tool, then a denial, an empty answer, no message at all: not done',
    async play(agent) {
      const step = together(text(EARLY), shell(agent, 'echo one'));
      const replies = [text(DENIAL), text(''), together()];
      const scene = await makeAgentScene(agent, endings(step, replies));
      const { exitCode, stdout } = await scene.run([...WITH_TOOLS, '-n', '3']);
      expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
      const { iterations } = scene.state();
      expect(iterations).toHaveLength(3);
      for (const { completed } of iterations) expect(completed).toBe(false);
    },
  },
  {
    title: 'a refused tool, then the promise: not done, and the note names the tool',
    row: 'a refused tool',
    async play(agent) {
      const scene = await makeAgentScene(agent, [refusedCall(agent), text(PROMISED)], {
        denies: 'bash',
      });
      expect((await scene.run([...DONE, '-n', '1'])).exitCode).toBe(3);
      expect(scene.has('made')).toBe(false);
      expect(scene.state().iterations[0].refused[0]).toMatch(TOOL_NAMES);
      // Its Markdown escapes the underscores.
      expect(scene.notes()[0]?.text.replaceAll('\\', '')).toMatch(TOOL_NAMES);
    },
  },
  {
    title: '--edit: it may run the command of a check with further words, and no other one',
    // The sandbox of codex cannot start on every machine.
    of: ['gemini', 'opencode', 'qwen', 'copilot'],
    async play(agent) {
      const run = (command: string): Reply => shell(agent, command);
      const steps = [run('npm test one'), run('touch made')];
      const scene = await makeAgentScene(agent, [...steps, text(PROMISED)]);
      await scene.write('package.json', '{"scripts":{"test":"touch"}}\n');
      await scene.run([...DONE, '--verify', 'npm test', '--edit', '-n', '1']);
      expect(scene.has('one')).toBe(agent !== 'gemini');
      expect(scene.has('made')).toBe(agent === 'opencode');
    },
  },
  {
    title: 'a bad key: failed after one iteration',
    row: 'a bad key',
    play: (agent) => endsAt(agent, failure(agent, 401), 1, 'failed:not-logged-in'),
  },
  {
    title: 'an unknown model: failed after one iteration',
    row: 'an unknown model',
    play: (agent) => endsAt(agent, failure(agent, 404), 1, 'failed:refused-request'),
  },
  {
    title: 'a rate limit is waited for, so --max-wait 0 ends with 75',
    row: 'a rate limit',
    // gemini tries for four minutes before it gives up, qwen for longer: see the next but one.
    of: ['codex', 'opencode', 'copilot'],
    play: async (agent) => {
      const scene = await makeAgentScene(agent, () => failure(agent, 429));
      expect(await cutInRetries(scene)).toMatchObject({ exitCode: 75 });
    },
  },
  {
    title: 'a plan limit: 75 with its reset',
    row: 'a plan limit, and its reset',
    async play(agent) {
      const resetsAt = Math.floor(Date.now() / 1000) + 7200;
      const limit: Reply =
        agent === 'codex'
          ? error(
              429,
              'usage_limit_reached',
              'The limit has been reached',
              {},
              {
                plan_type: 'plus',
                resets_at: resetsAt,
              },
            )
          : error(
              429,
              'RESOURCE_EXHAUSTED',
              'You exceeded your current quota.',
              {},
              {
                details: [
                  {
                    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
                    violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
                  },
                ],
              },
            );
      const scene = await makeAgentScene(agent, () => limit);
      const { exitCode } = await scene.run([...DONE, '--max-wait', '0']);
      expect(exitCode).toBe(75);
      const { text: note } = scene.notes()[0] ?? { text: '' };
      // codex tells the minute.
      const reset = new Date(resetsAt * 1000).toISOString().slice(0, 16);
      expect({ note, tellsReset: note.includes(reset) }).toEqual({
        note,
        tellsReset: agent === 'codex',
      });
    },
  },
  {
    title: 'a capacity that is used up: 75 with its reset',
    of: ['gemini'],
    async play(agent) {
      const type = 'type.googleapis.com/google.rpc.ErrorInfo';
      const details = [
        {
          '@type': type,
          reason: 'MODEL_CAPACITY_EXHAUSTED',
          domain: 'cloudcode-pa.googleapis.com',
        },
      ];
      const said =
        'You have exhausted your capacity on this model. Your quota will reset after 21h54m48s.';
      const used = error(429, 'RESOURCE_EXHAUSTED', said, AT_ONCE, { details });
      const scene = await makeAgentScene(agent, () => used);
      const { exitCode, stderr } = await scene.run([...DONE, '--max-wait', '0']);
      expect(exitCode).toBe(75);
      expect(stderr).toMatch(/usage limit lasts longer than --max-wait, until \d{4}-/);
      expect(scene.state()).toMatchObject({ exit_reason: 'usage_limit', iterations: [] });
    },
  },
  {
    title: 'a service that fails for longer than the iteration limit: not timed out',
    row: 'its own retries, where the iteration limit cuts them',
    play: (agent) => outlastsTheLimit(agent, 500),
  },
  {
    title: 'a rate limit that lasts longer than the iteration limit: not timed out',
    row: 'a rate limit',
    of: ['gemini', 'qwen'],
    play: (agent) => outlastsTheLimit(agent, 429),
  },
  {
    title: 'a session is continued, counted once, and begun again once when it is gone',
    row: 'a session that is gone',
    async play(agent) {
      const scene = await makeAgentScene(agent, [
        ...[text('First answer.'), text('Second answer.'), text(PROMISED)],
      ]);
      const session = ['--session', 'continue'];
      expect((await scene.run([...DONE, ...session, '-n', '2'])).exitCode).toBe(3);
      const [first, second] = scene.api.mainCalls;
      expect(second?.raw).toContain('First answer.');
      expect(second?.body?.messages.length).toBeGreaterThan(first?.body?.messages.length ?? 0);
      const { usage, session_id } = scene.state();
      if (whyNot('tokens', agent) === null && agent !== 'qwen') {
        expect(usage.input_tokens).toBe(2 * USAGE.input_tokens);
      }
      await rm(scene.sessions, { recursive: true });
      const end = await scene.ralph(['resume', 't', '-n', '4', '--', ...scene.passthrough]);
      expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
      expect(scene.api.mainCalls).toHaveLength(3);
      expect(scene.state().session_id).not.toBe(session_id);
    },
  },
  {
    title: 'the iteration limit in a tool: nothing is left, what was said goes on',
    async play(agent) {
      const scene = await makeAgentScene(agent, [longStep(agent), text(PROMISED)]);
      const ralph = await scene.start([...WITH_TOOLS, ...LIMIT, '-n', '2'], TOLD_CLOCK);
      await untilTool(scene);
      letLimitPass(scene.folder);
      const { exitCode, stderr } = await ralph.ended;
      expect(stderr).toContain('timed out (iteration limit)');
      expect(exitCode).toBe(0);
      expect(livingIn(scene.home)).toEqual([]);
      expect(scene.api.mainCalls[1]?.raw).toContain('Testing.');
    },
  },
  {
    title: 'Ctrl-C in a tool: nothing is left',
    async play(agent) {
      const scene = await makeAgentScene(agent, [longStep(agent)]);
      const ralph = await scene.start(WITH_TOOLS);
      await untilTool(scene);
      process.kill(ralph.pid, 'SIGINT');
      expect(await ralph.ended).toMatchObject({ exitCode: 130 });
      expect(livingIn(scene.home)).toEqual([]);
    },
  },
  {
    title: 'ralph is killed in a tool: its guard leaves nothing',
    async play(agent) {
      const scene = await makeAgentScene(agent, [longStep(agent), text(PROMISED)]);
      const ralph = await scene.start(WITH_TOOLS);
      await untilTool(scene);
      process.kill(ralph.pid, 'SIGKILL');
      await untilNobodyIn(scene.home);
      expect(scene.api.mainCalls).toHaveLength(1);
    },
  },
  {
    title: 'a long prompt arrives byte for byte',
    async play(agent) {
      const scene = await makeAgentScene(agent, async () => {
        // gemini prints the prompt again, and exits without a wait for the reader of its pipe: what the pipe could
        // not take yet is lost. A real model leaves it the time.
        if (agent === 'gemini')
          await until(hasPrintedPrompt, () => 'the prompt in what was printed');
        return text(PROMISED);
      });
      const hasPrintedPrompt = () =>
        scene.has(PRINTED) && statSync(join(scene.folder, PRINTED)).size > bytes;
      const line = 'Zeile: äöü, "quoted"\\n\t見て\n';
      const bytes = LONG_PROMPTS[agent] ?? 1_000_000;
      const words = `<<${line.repeat(bytes / Buffer.byteLength(line))}>>`;
      const file = await scene.write('long.md', words);
      const end = await scene.run([...DONE, '--prompt-file', file]);
      // What went wrong stands in the state only; a matcher for a part of an object would not print it.
      expect(end.exitCode, JSON.stringify([end, scene.state()])).toBe(0);
      expect(scene.api.wasSent(words)).toBe(true);
    },
  },
  {
    title: 'a prompt that is too long for its model: failed after one iteration',
    row: 'a prompt that is too long',
    // The others leave it to the service, which the recordings have.
    of: ['qwen', 'copilot'],
    async play(agent) {
      const scene = await makeAgentScene(agent, []);
      const file = await scene.write('long.md', 'Read this. '.repeat(95_000));
      expect((await scene.run([...DONE, '--prompt-file', file])).exitCode).toBe(1);
      expect(scene.state().exit_reason).toBe('failed:refused-request');
    },
  },
  {
    title: 'a prompt of more than 1 MB: refused before anything starts',
    async play(agent) {
      const scene = await makeAgentScene(agent, []);
      const file = await scene.write('long.md', 'x'.repeat(1_048_577));
      expect((await scene.run([...DONE, '--prompt-file', file])).exitCode).toBe(2);
      expect(scene.api.requests).toEqual([]);
    },
  },
  {
    title: 'an unknown option: failed after one start, and named',
    row: 'an unknown option',
    async play(agent) {
      const scene = await makeAgentScene(agent, []);
      const { exitCode, stderr } = await scene.run([...DONE, '--', '--bogus-flag']);
      expect({ exitCode, reason: scene.state().exit_reason }).toEqual({
        exitCode: 1,
        reason: 'failed:bad-option',
      });
      expect(stderr).toContain('bogus-flag');
      expect(scene.api.mainCalls).toEqual([]);
    },
  },
  {
    title: 'unknown events, other orders of fields, a line of 20 MB and half a line break nothing',
    async play(agent) {
      const scene = await makeAgentScene(agent, [
        ...[together(text(EARLY), shell(agent, 'echo one')), text(DENIAL), text(PROMISED)],
      ]);
      const noise = await scene.write('noise.cjs', NOISE);
      const program = join(agentBinFolder(agent), agent);
      const shim = await scene.write(
        'shim',
        `#!/bin/bash\nset -o pipefail\n'${program}' "$@" | '${process.execPath}' '${noise}'\n`,
      );
      await chmod(shim, 0o700);
      const { exitCode, stdout } = await scene.run([...WITH_TOOLS, '--agent-bin', shim]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${PROMISED}\n` });
      expect(scene.state().iterations).toMatchObject([{ tools: 1 }, { completed: true }]);
    },
  },
];

/** Stands behind an agent, and puts in what no version of it writes yet. */
const NOISE = `
const lines = require('node:readline').createInterface({ input: process.stdin });
process.stdout.write(JSON.stringify({ type: 'new.event', text: 'x'.repeat(20_000_000) }) + '\\n');
lines.on('line', (line) => {
  let said = line;
  try {
    said = JSON.stringify(Object.fromEntries(Object.entries({ new_field: [1], ...JSON.parse(line) }).reverse()));
  } catch {}
  process.stdout.write('{"type":"new.event","message":7}\\n' + said + '\\n');
});
lines.on('close', () => process.stdout.write('{"type":"text","text":"half'));
`;

/** Starts ralph once, and lets the limit pass as soon as the agent tells that it tries again, if it does. */
async function cutInRetries(scene: AgentScene, onCut = (): void => {}): Promise<RalphEnd> {
  const ralph = await scene.start([...DONE, ...LIMIT, ...ONCE], TOLD_CLOCK);
  const isTold = ralph.untilStderr(/the agent retries by itself/).then(
    () => true,
    () => false,
  );
  if (await isTold) {
    letLimitPass(scene.folder);
    onCut();
  }
  return await ralph.ended;
}

async function outlastsTheLimit(agent: RealAgent, status: number): Promise<void> {
  let wellAtMs = Infinity;
  const scene = await makeAgentScene(agent, () =>
    performance.now() < wellAtMs ? failure(agent, status) : text(PROMISED),
  );
  const { exitCode, stderr } = await cutInRetries(scene, () => {
    wellAtMs = performance.now() + TOLD_LIMIT_MS + 3_000;
  });
  expect(stderr).not.toContain('timed out');
  // An agent that gives up sooner leaves an outage, which is waited for.
  expect(exitCode).toBeOneOf([0, 75]);
}

async function endsAt(
  agent: RealAgent,
  reply: Reply,
  exitCode: number,
  reason: string,
): Promise<void> {
  const scene = await makeAgentScene(agent, many(reply, 50));
  const end = await scene.run(DONE);
  expect({ exitCode: end.exitCode, reason: scene.state().exit_reason }).toEqual({
    exitCode,
    reason,
  });
  expect(scene.state().iterations.length).toBeLessThanOrEqual(1);
}

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { many, text, toolUse, USAGE } from '../helpers/api-replies.ts';
import { CLAUDE_BIN_DIR } from '../helpers/install-claude.ts';
import { type ApiScript, type MessagesApi, startMessagesApi } from '../helpers/messages-api.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { loopbackEnv } from '../helpers/real-claude.ts';
import { type RalphEnd, runRalph } from '../helpers/run-ralph.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// The built command around the real `claude`, which talks to a scripted stand-in for the API.

const DONE = 'All good.\n\n<promise>COMPLETE</promise>';
const PROMISE = ['--promise', 'COMPLETE', '--delay', '0', '--task-id', 'the-task'] as const;

interface Scene {
  readonly api: MessagesApi;
  /** The folder in which ralph is started; the vault too. */
  readonly work: string;
  readonly home: string;
  /** `ralph run` with these arguments, and with the prompt `Fix it.` if they have none. */
  run(...args: readonly string[]): Promise<RalphEnd>;
  /** The state file of the task, in the history if it has been completed. */
  state(where: 'history' | '.'): Promise<Readonly<Record<string, unknown>>>;
}

async function scene(script: ApiScript): Promise<Scene> {
  const api = await startMessagesApi(script);
  onTestFinished(() => api.close());
  const folder = await tempFolder();
  const work = join(folder, 'work');
  const home = join(folder, 'home');
  await mkdir(work);
  await mkdir(home);
  return {
    api,
    work,
    home,
    run: (...args) =>
      runRalph(['run', ...(args.includes('--prompt') ? [] : ['--prompt', 'Fix it.']), ...args], {
        path: [CLAUDE_BIN_DIR],
        env: loopbackEnv(api),
        cwd: work,
        home,
        timeoutMs: PATIENCE_MS,
      }),
    state: async (where) => {
      const file = join(work, '.ralph_state', where, 'the-task.json');
      return JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, unknown>>;
    },
  };
}

/** The prompt of a main call, as the API got it. */
function promptOf(api: MessagesApi, index: number): string {
  return JSON.stringify(api.mainCalls[index]?.body?.messages[0] ?? null);
}

test('two iterations to a promise: result on standard output, cost and session in the state', async () => {
  const { api, run, state } = await scene([text('Half of it is done.'), text(DONE)]);
  const end = await run(...PROMISE);
  expect(end).toMatchObject({ exitCode: 0, stdout: `${DONE}\n` });
  expect(api.mainCalls).toHaveLength(2);
  expect(promptOf(api, 0)).toContain('Fix it.');
  expect(promptOf(api, 0)).not.toContain('The task is NOT yet complete');
  expect(promptOf(api, 1)).toContain('Fix it.');
  expect(promptOf(api, 1)).toContain('Half of it is done.');
  expect(promptOf(api, 1)).toContain('The task is NOT yet complete');
  const saved = await state('history');
  expect(saved).toMatchObject({
    status: 'completed',
    current_iteration: 2,
    session_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
    iterations: [{ number: 1 }, { number: 2, completed: true }],
    usage: { input_tokens: 2 * USAGE.input_tokens, output_tokens: 2 * USAGE.output_tokens },
  });
  const { usage, iterations } = saved as {
    usage: { cost_usd: number };
    iterations: readonly { cost_usd: number }[];
  };
  const [first, second] = iterations.map(({ cost_usd }) => cost_usd);
  expect(first).toBeGreaterThan(0);
  expect(usage.cost_usd).toBeCloseTo((first ?? 0) + (second ?? 0), 6);
});

test('a Bash tool that writes the watched file completes the task', async () => {
  const write = toolUse('Bash', { command: 'echo done > report.md', description: 'Write it' });
  const { api, run, work, state } = await scene([write, text('I have written it.')]);
  const end = await run(
    ...['--watch-glob', '*.md', '--allowed-tools', 'Bash', '--delay', '0'],
    ...['--task-id', 'the-task'],
  );
  expect(end).toMatchObject({ exitCode: 0, stdout: 'I have written it.\n' });
  expect(api.mainCalls).toHaveLength(2);
  expect(await readFile(join(work, 'report.md'), 'utf8')).toBe('done\n');
  const saved = await state('history');
  expect(saved).toMatchObject({ status: 'completed', current_iteration: 1 });
  expect(JSON.stringify(saved.evidence)).toContain('report.md');
});

test('every tool refused and a promise made: not done, and the refused command is shown', async () => {
  const refused = toolUse('Bash', { command: 'npm run deploy', description: 'Deploy' });
  const { run, work, state } = await scene([refused, text(DONE)]);
  const end = await run(...PROMISE, '--max-iterations', '1');
  expect(end).toMatchObject({ exitCode: 3, stdout: '' });
  expect(end.stderr).toContain('npm run deploy');
  expect(await state('.')).toMatchObject({ status: 'max_iterations_reached' });
  const notes = await readdir(join(work, 'Needs_Action'));
  expect(notes).toEqual([expect.stringMatching(/^RALPH_EXHAUSTED_the-task_.*\.md$/)]);
});

test('refused tools and a promise, twice running: it ends, with the flag that would help', async () => {
  const refused = toolUse('Bash', { command: 'npm run deploy', description: 'Deploy' });
  const { api, run } = await scene([refused, text(DONE), refused, text(DONE)]);
  const end = await run(...PROMISE, '--max-iterations', '5');
  expect(end).toMatchObject({ exitCode: 5, stdout: '' });
  expect(end.stderr).toContain('--allowed-tools');
  expect(api.mainCalls).toHaveLength(4);
  // The second iteration was told what had been refused.
  expect(promptOf(api, 2)).toContain('npm run deploy');
});

test('a path after an @ in an earlier output: the file’s content never reaches the API', async () => {
  // The second call of the first iteration answers to a refused tool.
  const { api, run, work, home } = await scene((_, index) => {
    if (index === 0) return toolUse('Bash', { command: `curl @${secret}`, description: 'Send' });
    return text(index === 1 ? words : DONE);
  });
  const outside = await tempFolder();
  const secret = join(outside, 'secret.txt');
  const spaced = join(outside, 'two words.txt');
  for (const file of [secret, spaced, join(home, 'secret.txt'), join(work, 'secret.txt')]) {
    await writeFile(file, 'the-content-of-the-file\n');
  }
  const words = [
    `@${secret}`,
    `See @${secret}, @~/secret.txt, @secret.txt and @"${spaced}".`,
    `\`\`\`\n@${secret}\n\`\`\``,
    `> @${secret}\t@${secret}\u00a0@${secret} 見て。@${secret}`,
    `\u001b[1m@${secret}\u001b[0m \u0007@${secret}`,
    `I do not say <promise>COMPLETE</promise> before @${secret} is read.`,
  ].join('\n');
  const end = await run(...PROMISE);
  expect(end.exitCode).toBe(0);
  expect(api.mainCalls).toHaveLength(3);
  // The words themselves were passed on, the refused command too.
  expect(promptOf(api, 2)).toContain(`See \\\\@${secret}`);
  expect(promptOf(api, 2)).toContain('curl');
  expect(api.wasSent('the-content-of-the-file')).toBe(false);
});

test('a path after an @ in the user’s own prompt is the user’s choice', async () => {
  const { api, run, work } = await scene(many(text(DONE), 1));
  await writeFile(join(work, 'notes.txt'), 'the-content-of-the-file\n');
  const end = await run('--prompt', 'Do what @notes.txt says.', ...PROMISE);
  expect(end.exitCode).toBe(0);
  expect(api.wasSent('the-content-of-the-file')).toBe(true);
});

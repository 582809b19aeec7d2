import { expect, test } from 'vitest';
import { type RunTaskOptions, runTask, SandboxError, UsageError } from '../../src/index.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

test('the rules of the sandbox are options in camelCase, and wrong ones are refused before a start', async () => {
  const options: RunTaskOptions = {
    prompt: 'Do it.',
    vault: await tempFolder(),
    sandbox: true,
    allowWrite: ['/cache'],
    allowNet: ['*'],
    denyRead: ['~'],
    allowRead: [''],
    keepEnv: ['NOT A NAME'],
    allowUnixSockets: true,
    sandboxChecks: false,
    env: { PATH: '/nowhere' },
  };
  const error: unknown = await runTask(options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({
    problems: [
      'the option allowRead expects a path; found an empty text.',
      expect.stringMatching(/^the option allowNet '\*' would allow every host: /),
      "the option keepEnv expects the name of a variable; found 'NOT A NAME'.",
    ],
  });
});

test('a refusal of the sandbox is an error with a code for programs', () => {
  const error = new SandboxError({ code: 'root', sentence: '--sandbox does not hold for root.' });
  expect(error).toMatchObject({ name: 'SandboxError', code: 'root', exitCode: 2 });
});

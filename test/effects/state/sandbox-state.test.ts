import { expect, test } from 'vitest';
import type { TaskSandbox } from '../../../src/core/task/task-sandbox.ts';
import { parseState } from '../../../src/effects/state/state-schema.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const SANDBOX: TaskSandbox = {
  is: 'off',
  version: '0.0.78',
  rules: {
    ...{ allow_write: ['/cache'], allow_net: ['a.example.com'], deny_read: ['~'] },
    ...{ allow_read: ['~/x'], keep_env: ['TOKEN'], allow_unix_sockets: true },
    sandbox_checks: false,
  },
  changes: [{ at: START, what: 'the sandbox is off' }],
  refused: [{ host: 'evil.example.com', port: 443, count: 3 }],
  planted: ['/home/user/app/.mcp.json'],
};

function read(sandbox: unknown): TaskSandbox | null | undefined {
  return parseState({ ...JSON.parse(JSON.stringify(newTask())), sandbox })?.sandbox;
}

test('a state keeps what is known of its sandbox', () => {
  expect(read(JSON.parse(JSON.stringify(SANDBOX)))).toEqual(SANDBOX);
  const more = { refused: 1, planted: 2 };
  expect(read({ ...SANDBOX, more })).toEqual({ ...SANDBOX, more });
});

test.for([undefined, null, 'on', {}, { ...SANDBOX, is: 'half' }])(
  'a state in which that is %j has never had one',
  (sandbox) => {
    expect(read(sandbox)).toBeNull();
  },
);

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskState } from '../../../src/core/task/task-state.ts';
import { thisPlace } from '../../../src/effects/lock/driver-identity.ts';
import { lookAtVault, type VaultPlace } from '../../../src/effects/vault/vault-scan.ts';
import { newTask, START } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const here = () => thisPlace(new Date().toISOString());

/** An empty vault, and what writes into it. */
async function makeVault() {
  const vault = await tempFolder();
  const stateDir = join(vault, '.ralph_state');
  const place: VaultPlace = {
    vault,
    stateDir,
    seal: testSeal(stateDir),
  };
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(vault, path)), { recursive: true });
    writeFileSync(join(vault, path), text);
  };
  return {
    vault,
    write,
    state(path: string, said: Partial<TaskState>): void {
      const task = { ...newTask(), driver: null, finished_at: START, ...said };
      write(`.ralph_state/${path}.json`, JSON.stringify(task));
    },
    look: () => lookAtVault(place, ['In_Progress', 'Needs_Action'], here()),
  };
}

test('a vault without folders holds nothing', async () => {
  expect((await makeVault()).look()).toEqual([]);
});

test('a scan tells what each file is and what its front matter says', async () => {
  const { vault, write, look } = await makeVault();
  write('In_Progress/a.md', '---\ntype: email_processing\n---\nAnswer.\n');
  write('In_Progress/b.md', '---\ntype: [\n---\nAnswer.\n');
  write('In_Progress/c.bin', new Uint8Array([0xff, 0x00]));
  symlinkSync('/etc/hostname', join(vault, 'In_Progress/d.md'));
  mkdirSync(join(vault, 'In_Progress/e'));
  const seen = look().map(({ file }) => [
    file.name,
    file.kind,
    file.text !== null,
    file.frontMatter.type,
    file.frontMatter.problem !== null,
  ]);
  expect(seen).toEqual([
    ['a.md', 'regular', true, 'email_processing', false],
    ['b.md', 'regular', true, null, true],
    ['c.bin', 'regular', false, null, false],
    ['d.md', 'link', false, null, false],
    ['e', 'other', false, null, false],
  ]);
});

/** Not all systems have names that are no text in UTF-8. */
const onLinux = test.runIf(process.platform === 'linux');

onLinux('tells of a file whose name is no text, by its bytes', async () => {
  const { vault, write, look } = await makeVault();
  write('In_Progress/\ufffd.md', 'x');
  const within = (name: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${vault}/In_Progress/`), name]);
  writeFileSync(within(Buffer.from([0x66, 0xff, 0x0a, 0x2e, 0x6d, 0x64])), 'x');
  mkdirSync(within(Buffer.from([0xfe])));
  const seen = look().map(({ file }) => [file.name, file.kind, file.text]);
  expect(seen).toEqual([
    ['\\xfe', 'other', null],
    ['f\\xff\\x0a.md', 'unnamed', null],
    ['\ufffd.md', 'regular', 'x'],
  ]);
});

test('a scan calls the second of two files that would be one task a namesake', async () => {
  const { write, look } = await makeVault();
  write('In_Progress/.a.md', 'x');
  write('In_Progress/a.md', 'x');
  write('In_Progress/a.txt', 'x');
  write('Needs_Action/a.md', 'x');
  expect(look().map(({ file }) => file.hasNamesake)).toEqual([false, false, true, true]);
});

test('a scan finds the tasks of a file and the note that its own run left', async () => {
  const { write, state, look } = await makeVault();
  write('In_Progress/a.md', 'x');
  state('a', { status: 'stalled', task_file: 'In_Progress/a.md' });
  state('stuck_a', { status: 'max_iterations_reached', task_file: 'In_Progress/a.md' });
  write('Needs_Action/RALPH_STALLED_a_20260105T100000Z.md', 'x');
  const [facts] = look();
  expect(facts).toMatchObject({
    ownId: 'a',
    own: { standing: 'stalled' },
    rescueId: 'stuck_a',
    rescue: { standing: 'max_iterations_reached' },
    failedRescues: 1,
    ownNote: 'RALPH_STALLED_a_20260105T100000Z.md',
  });
});

test('a note about its rescue, or about a like-named file, is none of its own run', async () => {
  const { write, look } = await makeVault();
  write('In_Progress/a.md', 'x');
  for (const id of ['stuck_a', 'a_b', 'b_a']) {
    write(`Needs_Action/RALPH_EXHAUSTED_${id}_20260105T100000Z.md`, 'x');
  }
  write('Needs_Action/RALPH_HUMAN_a_20260105T100000Z.md', 'x');
  expect(look()[0]?.ownNote).toBeNull();
});

test.for([
  ['of another file', 'a', { status: 'stalled', task_file: 'In_Progress/a.txt' }],
  ['completed, of no file', 'history/a', { status: 'completed', task_file: null }],
  [
    'not completed, in the history',
    'history/a',
    { status: 'stalled', task_file: 'In_Progress/a.md' },
  ],
] as const)('a task %s tells nothing of it', async ([, path, said]) => {
  const { write, state, look } = await makeVault();
  write('In_Progress/a.md', 'x');
  state(path, { ...said, task_id: 'a' });
  expect(look()[0]?.own).toBeNull();
});

test('a corrupt state is no task that anybody could go on with', async () => {
  const { write, look } = await makeVault();
  write('In_Progress/a.md', 'x');
  write('.ralph_state/a.json', '{');
  expect(look()[0]?.own?.standing).toBe('corrupt');
});

test('a scan tells whether the request of a task has been answered', async () => {
  const { write, state, look } = await makeVault();
  write('In_Progress/a.md', 'x');
  const approval = {
    id: 'send',
    what: 'send it',
    file: 'APPROVAL_a_send.md',
    by_agent: false,
    requested_at: START,
    expires_at: START,
    there_before: null,
    decision: null,
    answered_at: null,
    answer_file: null,
    reason: null,
  };
  state('a', { status: 'paused_awaiting_approval', task_file: 'In_Progress/a.md', approval });
  const asked = () => look()[0]?.own?.approval?.isAnswered;
  expect(asked()).toBe(false);
  write('Rejected/APPROVAL_a_send.md', 'x');
  expect(asked()).toBe(true);
});

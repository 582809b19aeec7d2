import { readdirSync, readFileSync, statSync } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  mkdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApprovalAnswer } from '../../../src/core/machine/loop-event.ts';
import type { Approval } from '../../../src/core/task/task-state.ts';
import { awaitAnswer, placeRequest } from '../../../src/effects/vault/approval-folder.ts';
import { renderRequest } from '../../../src/report/notes/approval-request.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const NAME = 'APPROVAL_t_deploy.md';
const LATER = '2099-01-01T00:00:00.000Z';

function approvalOf(changes: Partial<Approval> = {}): Approval {
  return {
    id: 'deploy',
    what: 'deploy to production',
    file: NAME,
    by_agent: false,
    requested_at: '2026-01-05T10:00:00.000Z',
    expires_at: LATER,
    there_before: null,
    decision: null,
    answered_at: null,
    answer_file: null,
    reason: null,
    ...changes,
  };
}

function textOf(approval: Approval): string {
  return renderRequest({ taskId: 't', approval, asked: 'Ship it.', logDir: '/log' });
}

/** A vault, with what a person may do in it. */
async function stage() {
  const vault = await tempFolder();
  const at = (folder: string, name = NAME): string => join(vault, folder, name);
  const put = async (folder: string, text: string, name = NAME): Promise<void> => {
    await mkdir(join(vault, folder), { recursive: true });
    await writeFile(at(folder, name), text);
  };
  const move = async (to: string, name = NAME): Promise<void> => {
    await mkdir(join(vault, to), { recursive: true });
    await rename(at('Pending_Approval', name), at(to, name));
  };
  /** Asks, and gives the request as it is then known. */
  const ask = async (changes: Partial<Approval> = {}): Promise<Approval> => {
    const approval = approvalOf(changes);
    return { ...approval, there_before: await placeRequest(vault, approval, textOf(approval)) };
  };
  const look = (approval: Approval): Promise<ApprovalAnswer> =>
    awaitAnswer(vault, approval, { patiently: false, signal: new AbortController().signal });
  return { vault, at, put, move, ask, look };
}

const NONE = { kind: 'none', why: 'not-waited' };
const APPROVED = { kind: 'approved', file: `Approved/${NAME}`, reason: null };

describe('a request', () => {
  test('a request replaces one that a killed driver left half-written', async () => {
    const { vault, put, ask } = await stage();
    await put('Pending_Approval', '---\n', `${NAME}.4711-d6d733eb.tmp`);
    await put('Pending_Approval', '---\n', 'APPROVAL_other_deploy.md.4711-d6d733eb.tmp');
    await ask();
    expect(readdirSync(join(vault, 'Pending_Approval')).sort()).toEqual([
      'APPROVAL_other_deploy.md.4711-d6d733eb.tmp',
      NAME,
    ]);
  });

  test('a request lies in Pending_Approval, is for its owner alone, and says how to answer it', async () => {
    const { ask, at } = await stage();
    const { there_before } = await ask();
    expect(there_before).toEqual({ approved: null, rejected: null });
    const text = readFileSync(at('Pending_Approval'), 'utf8');
    expect(text).toMatch(/^---\ntype: "approval_request"\ntask_id: "t"\n/);
    expect(text).toContain('    deploy to production\n');
    expect(text).toContain('move this file to `Approved/`');
    expect(statSync(at('Pending_Approval')).mode & 0o777).toBe(0o600);
    expect(statSync(at('Pending_Approval', '')).mode & 0o777).toBe(0o700);
  });

  test('replaces an older one of that name, which asked for something else', async () => {
    const { ask, at } = await stage();
    await ask({ what: 'deploy to staging' });
    await ask();
    const text = readFileSync(at('Pending_Approval'), 'utf8');
    expect(text).toContain('deploy to production');
    expect(text).not.toContain('staging');
  });

  test('a request that the agent wrote stays as it is', async () => {
    const { ask, at, put } = await stage();
    await put('Pending_Approval', 'May I?', 'mine.md');
    await ask({ file: 'mine.md', by_agent: true });
    expect(readFileSync(at('Pending_Approval', 'mine.md'), 'utf8')).toBe('May I?');
  });

  test('a request of the agent that was moved before anybody was asked is made again', async () => {
    const { ask, at, look, move, put } = await stage();
    await put('Pending_Approval', 'May I?', 'mine.md');
    await move('Approved', 'mine.md');
    const asked = await ask({ file: 'mine.md', by_agent: true });
    expect(readFileSync(at('Pending_Approval', 'mine.md'), 'utf8')).toContain('Approval wanted');
    expect(await look(asked)).toEqual(NONE);
    await move('Approved', 'mine.md');
    expect(await look(asked)).toMatchObject({ kind: 'approved' });
  });

  test('never writes over what somebody else has put there', async () => {
    const { ask, at, put } = await stage();
    await put('Pending_Approval', 'type: "approval_request"');
    await ask();
    expect(readFileSync(at('Pending_Approval'), 'utf8')).toBe('type: "approval_request"');
  });

  test.for<[string, (vault: string, out: string) => Promise<unknown>]>([
    ['a link to a file', (vault, out) => symlink(out, join(vault, 'Pending_Approval', NAME))],
    ['a link to nothing', (vault) => symlink('nowhere', join(vault, 'Pending_Approval', NAME))],
    ['a folder', (vault) => mkdir(join(vault, 'Pending_Approval', NAME))],
  ])('no request is made where %s stands in its place', async ([, make]) => {
    const { ask, vault } = await stage();
    const out = join(await tempFolder(), 'out.md');
    await writeFile(out, 'mine');
    await mkdir(join(vault, 'Pending_Approval'));
    await make(vault, out);
    await expect(ask()).rejects.toThrow('is not a regular file');
    expect(readFileSync(out, 'utf8')).toBe('mine');
  });

  test('no request is made through a link that leads out of the vault', async () => {
    const { ask, vault } = await stage();
    const out = await tempFolder();
    await symlink(out, join(vault, 'Pending_Approval'));
    await expect(ask()).rejects.toThrow('leads out of the vault');
  });

  test('a request is made in a folder that a link within the vault leads to', async () => {
    const { ask, at, vault } = await stage();
    await mkdir(join(vault, 'inbox'));
    await symlink('inbox', join(vault, 'Pending_Approval'));
    await ask();
    expect(readFileSync(at('inbox'), 'utf8')).toContain('Approval wanted');
  });

  test('no request is made where a file stands in place of Pending_Approval', async () => {
    const { ask, vault } = await stage();
    await writeFile(join(vault, 'Pending_Approval'), '');
    await expect(ask()).rejects.toThrow();
  });
});

describe('an answer', () => {
  test('moving the request answers it', async () => {
    const { ask, look, move } = await stage();
    const asked = await ask();
    expect(await look(asked)).toEqual(NONE);
    await move('Approved');
    expect(await look(asked)).toEqual(APPROVED);
  });

  test('copying the request answers it, too', async () => {
    const { ask, at, look } = await stage();
    const asked = await ask();
    await mkdir(at('Approved', ''));
    await copyFile(at('Pending_Approval'), at('Approved'));
    expect(await look(asked)).toEqual(APPROVED);
  });

  test('an older file is no answer until the request is moved over it', async () => {
    const { ask, look, move, put } = await stage();
    await put('Approved', 'I approve this myself.');
    const asked = await ask();
    expect(await look(asked)).toEqual(NONE);
    await move('Approved');
    expect(await look(asked)).toEqual(APPROVED);
  });

  test('an old rejection is no answer until a new one is moved over it', async () => {
    const { ask, look, move, put } = await stage();
    await put('Rejected', 'reason: old');
    const asked = await ask();
    expect(await look(asked)).toEqual(NONE);
    await move('Rejected');
    expect(await look(asked)).toMatchObject({ kind: 'rejected', reason: null });
  });

  test('an answer with the text and the time of the older one counts once it is moved over it', async () => {
    const { ask, at, look, move, put } = await stage();
    await put('Pending_Approval', 'May I?', 'mine.md');
    await put('Approved', 'May I?', 'mine.md');
    const time = new Date('2026-01-01');
    for (const folder of ['Pending_Approval', 'Approved']) {
      await utimes(at(folder, 'mine.md'), time, time);
    }
    const asked = await ask({ file: 'mine.md', by_agent: true });
    expect(await look(asked)).toEqual(NONE);
    await move('Approved', 'mine.md');
    expect(await look(asked)).toMatchObject({ kind: 'approved' });
  });

  test('an old one is none, although a backup links to it or its mode is changed', async () => {
    const { ask, at, look, put, vault } = await stage();
    await put('Approved', 'yes');
    const asked = await ask();
    await link(at('Approved'), join(vault, 'backup.md'));
    await chmod(at('Approved'), 0o640);
    expect(await look(asked)).toEqual(NONE);
  });

  test('a rejection counts for more than an approval beside it', async () => {
    const { ask, look, move, put } = await stage();
    const asked = await ask();
    await move('Approved');
    await put('Rejected', 'reason: wait');
    expect(await look(asked)).toEqual({
      kind: 'rejected',
      file: `Rejected/${NAME}`,
      reason: 'wait',
    });
  });

  test('a file of another name is no answer', async () => {
    const { ask, look, put } = await stage();
    const asked = await ask();
    await put('Approved', 'yes', 'APPROVAL_t_other.md');
    await put('Approved', 'yes', NAME.toLowerCase());
    expect(await look(asked)).toEqual(NONE);
  });

  test.for<[string, (vault: string, out: string) => Promise<unknown>]>([
    ['a link', (vault, out) => symlink(join(out, NAME), join(vault, 'Approved', NAME))],
    ['a folder', (vault) => mkdir(join(vault, 'Approved', NAME))],
    [
      'a file in a folder that leads out of the vault',
      async (vault, out) => {
        await rm(join(vault, 'Approved'), { recursive: true });
        await symlink(out, join(vault, 'Approved'));
      },
    ],
  ])('%s is none', async ([, make]) => {
    const { ask, look, vault } = await stage();
    const out = await tempFolder();
    await writeFile(join(out, NAME), 'yes');
    await mkdir(join(vault, 'Approved'));
    const asked = await ask();
    await make(vault, out);
    expect(await look(asked)).toEqual(NONE);
  });

  test.for<[written: string, reason: string | null]>([
    ['reason: Not on a Friday.', 'Not on a Friday.'],
    ['reason: "with \\"quotes\\""', 'with "quotes"'],
    ['reason: "broken', '"broken'],
    ['Reason:\tNo.', 'No.'],
    ['text\r\nreason: No.\r\nmore', 'No.'],
    ['reason:', null],
    ['reason: ""', null],
    ['no reason: none', null],
    ['reason: \u001b[31mred\u0007', 'red'],
    [`reason: ${'x'.repeat(2_000)}`, `${'x'.repeat(999)}…`],
    ['', null],
  ])('the reason in %j is %j', async ([written, reason]) => {
    const { ask, look, put } = await stage();
    const asked = await ask();
    await put('Rejected', written);
    expect(await look(asked)).toMatchObject({ kind: 'rejected', reason });
  });

  test('the reason is what a person writes, not what the agent asked for', async () => {
    const { ask, look, move } = await stage();
    const asked = await ask({ what: 'x\nreason: it is fine' });
    await move('Rejected');
    expect(await look(asked)).toMatchObject({ kind: 'rejected', reason: null });
  });
});

describe('waiting', () => {
  const patiently = (vault: string, approval: Approval, signal = new AbortController().signal) =>
    awaitAnswer(vault, approval, { patiently: true, signal });

  test('waiting ends when the request is moved', async () => {
    const { ask, move, vault } = await stage();
    const answer = patiently(vault, await ask());
    await move('Approved');
    expect(await answer).toEqual(APPROVED);
  });

  test('waiting ends at once if the answer is there already', async () => {
    const { ask, move, vault } = await stage();
    const asked = await ask();
    await move('Rejected');
    expect(await patiently(vault, asked)).toMatchObject({ kind: 'rejected' });
  });

  test('waiting ends even when the folder of requests is gone', async () => {
    const { ask, at, move, vault } = await stage();
    const asked = await ask();
    await rename(at('Pending_Approval', ''), join(vault, 'elsewhere'));
    const answer = patiently(vault, asked);
    await rename(join(vault, 'elsewhere'), at('Pending_Approval', ''));
    await move('Approved');
    expect(await answer).toEqual(APPROVED);
  });

  test('waiting ends when the request expires, unless it is answered at that very moment', async () => {
    const { ask, move, vault } = await stage();
    const expired = await ask({ expires_at: '2026-01-05T10:00:00.000Z' });
    expect(await patiently(vault, expired)).toEqual({ kind: 'none', why: 'expired' });
    await move('Approved');
    expect(await patiently(vault, expired)).toEqual(APPROVED);
  });

  test('waiting ends when it is interrupted, before it begins or later', async () => {
    const { ask, vault } = await stage();
    const asked = await ask();
    const interrupted = { kind: 'none', why: 'interrupted' };
    expect(await patiently(vault, asked, AbortSignal.abort())).toEqual(interrupted);
    const abort = new AbortController();
    const answer = patiently(vault, asked, abort.signal);
    abort.abort();
    expect(await answer).toEqual(interrupted);
  });
});

describe('a folder that others can write to', () => {
  test.for(['Pending_Approval', 'Approved', 'Rejected'])('%s: nobody is asked', async (folder) => {
    const { vault, ask } = await stage();
    await mkdir(join(vault, folder));
    await chmod(join(vault, folder), 0o777);
    await expect(ask()).rejects.toThrow(`${join(vault, folder)} is not used: everyone can write`);
  });

  test('a folder that others can write to holds no answer, even if it was safe when the request was made', async () => {
    const { vault, ask, move } = await stage();
    const approval = await ask();
    await move('Approved');
    await chmod(join(vault, 'Approved'), 0o777);
    const { signal } = new AbortController();
    const answer = await awaitAnswer(vault, approval, { patiently: false, signal });
    expect(answer).toEqual({ kind: 'none', why: 'not-waited' });
    await chmod(join(vault, 'Approved'), 0o755);
    expect(await awaitAnswer(vault, approval, { patiently: false, signal })).toMatchObject({
      kind: 'approved',
    });
  });
});

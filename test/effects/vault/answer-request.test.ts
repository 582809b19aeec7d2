import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { answerRequest, isPending } from '../../../src/effects/vault/answer-request.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const AT = '2026-01-05T10:00:00.000Z';
const NAME = 'APPROVAL_t_deploy.md';

async function stage(text = 'May I?', name = NAME) {
  const vault = await tempFolder();
  await mkdir(join(vault, 'Pending_Approval'));
  await writeFile(join(vault, 'Pending_Approval', name), text);
  const read = (path: string): string => readFileSync(join(vault, path), 'utf8');
  return { vault, read };
}

describe('a request that waits', () => {
  test('a waiting request is a regular file in Pending_Approval, named without its folder', async () => {
    const { vault } = await stage();
    await writeFile(join(vault, 'secret.md'), '');
    await writeFile(join(vault, 'Pending_Approval/.hidden'), '');
    await mkdir(join(vault, 'Pending_Approval/folder'));
    await symlink('../secret.md', join(vault, 'Pending_Approval/link.md'));
    expect(isPending(vault, NAME)).toBe(true);
    for (const name of [
      '../secret.md',
      '..',
      '.',
      '',
      '.hidden',
      'folder',
      'link.md',
      `../Pending_Approval/${NAME}`,
      `./${NAME}`,
      `/${NAME}`,
      join(vault, 'Pending_Approval', NAME),
      'gone.md',
    ]) {
      expect([name, isPending(vault, name)]).toEqual([name, false]);
    }
  });
});

describe('answering', () => {
  test('moves it', async () => {
    const { vault, read } = await stage();
    const where = await answerRequest(vault, NAME, { decision: 'approved', reason: null, at: AT });
    expect(where).toBe(`Approved/${NAME}`);
    expect(read(where)).toBe('May I?');
    expect(readdirSync(join(vault, 'Pending_Approval'))).toEqual([]);
  });

  test('an answer gives the reason, without anything that acts on a terminal', async () => {
    const { vault, read } = await stage();
    const answer = { decision: 'rejected', reason: HOSTILE, at: AT } as const;
    const text = read(await answerRequest(vault, NAME, answer));
    expect(hostileSign(text)).toBeNull();
    const [line = ''] = text.split('\n');
    expect(parse(line).reason).toBe(HOSTILE.replace(/\s+/g, ' ').trim());
  });

  test('an answer keeps the file that stood in its place under another name', async () => {
    const { vault, read } = await stage();
    await mkdir(join(vault, 'Rejected'));
    await writeFile(join(vault, 'Rejected', NAME), 'an older answer');
    await answerRequest(vault, NAME, { decision: 'rejected', reason: null, at: AT });
    expect(read(`Rejected/${NAME}`)).toBe('May I?');
    expect(read(`Rejected/${NAME}.before-20260105100000000`)).toBe('an older answer');
  });

  test.for<[name: string, text: string]>([
    ['where there is room for it', '---\ntask_id: "t"\nreason: ""\n---\n\nMay I?\n'],
    ['in a front matter without room', '---\ntask_id: "t"\n---\n\nMay I?\n'],
    [
      'in one with CRLF and a byte order mark',
      '\uFEFF---\r\ntask_id: "t"\r\n---\r\n\r\nMay I?\r\n',
    ],
  ])('the reason stands %s', async ([, text]) => {
    const { vault, read } = await stage(text);
    const reason = 'No: "$&" \'it\'\n  costs $1';
    await answerRequest(vault, NAME, { decision: 'rejected', reason, at: AT });
    const written = read(`Rejected/${NAME}`);
    const front = /^\uFEFF?---\r?\n([\s\S]*?)---/.exec(written)?.[1] ?? '';
    expect(parse(front)).toEqual({ task_id: 't', reason: 'No: "$&" \'it\' costs $1' });
    expect(written).toContain('May I?');
  });

  test('the reason stands before a text without any front matter', async () => {
    const { vault, read } = await stage('May I?');
    await answerRequest(vault, NAME, { decision: 'rejected', reason: 'No.', at: AT });
    expect(read(`Rejected/${NAME}`)).toBe('reason: "No."\n\nMay I?');
  });

  test.for(['Pending_Approval', 'Approved'])(
    '%s leads out of the vault: nothing is moved',
    async (folder) => {
      const { vault } = await stage();
      const out = await tempFolder();
      await writeFile(join(out, NAME), 'theirs');
      if (folder === 'Pending_Approval') {
        const other = await tempFolder();
        await symlink(out, join(other, folder));
        const answer = { decision: 'approved', reason: 'x', at: AT } as const;
        await expect(answerRequest(other, NAME, answer)).rejects.toThrow('leads out of the vault');
        expect(existsSync(join(other, 'Approved'))).toBe(false);
      } else {
        await symlink(out, join(vault, folder));
        const answer = { decision: 'approved', reason: 'x', at: AT } as const;
        await expect(answerRequest(vault, NAME, answer)).rejects.toThrow('leads out of the vault');
        expect(readFileSync(join(vault, 'Pending_Approval', NAME), 'utf8')).toBe('May I?');
      }
      expect(readFileSync(join(out, NAME), 'utf8')).toBe('theirs');
    },
  );

  test('one that is gone meanwhile is an error of the system', async () => {
    const { vault } = await stage();
    const answer = { decision: 'approved', reason: null, at: AT } as const;
    await expect(answerRequest(vault, 'gone.md', answer)).rejects.toThrow('ENOENT');
  });
});

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeRequest, requestsNaming } from '../../../src/effects/vault/pending-requests.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage(files: Readonly<Record<string, string>>) {
  const vault = await tempFolder();
  await mkdir(join(vault, 'Pending_Approval'));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(vault, 'Pending_Approval', name), text);
  }
  return vault;
}

describe('the requests that name a task', () => {
  test.for<[string, string, boolean]>([
    ['report-7.md', 'May I?', true],
    ['APPROVAL_report-7_send.md', 'May I?', true],
    ['send (report-7).md', 'May I?', true],
    ['send.md', 'For the task report-7: may I?', true],
    ['send.md', 'Task: report-7.', true],
    ['send.md', '---\ntask_id: report-7\n---\nMay I?', true],
    ['send.md', '---\r\ntask_id: "report-7"\r\n---\r\nMay I?', true],
    ['send.md', 'May I?', false],
    ['send.md', 'As in report-7.md', true],
    ['send.md', 'For report-7.2 now.', false],
    ['report-7.2.md', 'May I?', false],
    ['send.md', 'For report-70.', false],
    ['send.md', 'For xreport-7.', false],
    ['send.md', 'For reportX7.', false],
    ['.report-7.md', 'May I?', false],
    // Another task's request may speak of this one.
    ['send.md', '---\ntask_id: "other"\n---\nAs in report-7.', false],
    ['APPROVAL_other_report-7.md', '---\ntask_id: "other"\n---\nMay I?', false],
    ['send.md', '---\ntask_id: "report-7-2"\n---\nMay I?', false],
  ])('%s with %j', async ([name, text, expected]) => {
    const vault = await stage({ [name]: text });
    expect(requestsNaming(vault, 'report-7')).toEqual(expected ? [name] : []);
  });

  test('a dot in an id is a dot', async () => {
    const vault = await stage({ 'a.md': 'v1.2', 'b.md': 'v1x2' });
    expect(requestsNaming(vault, 'v1.2')).toEqual(['a.md']);
  });

  test('requests are regular files, sorted; one that is unreadable or far too long counts only by its file name', async () => {
    const vault = await stage({
      'b.md': 't',
      'a.md': 't',
      'long.md': `t ${'x'.repeat(1_100_000)}`,
    });
    await mkdir(join(vault, 'Pending_Approval/t'));
    await symlink('a.md', join(vault, 'Pending_Approval/t.md'));
    expect(requestsNaming(vault, 't')).toEqual(['a.md', 'b.md']);
  });

  test('there are no requests without the folder, or if it leads out of the vault', async () => {
    const vault = await tempFolder();
    expect(requestsNaming(vault, 't')).toEqual([]);
    const out = await stage({ 't.md': 't' });
    await symlink(join(out, 'Pending_Approval'), join(vault, 'Pending_Approval'));
    expect(requestsNaming(vault, 't')).toEqual([]);
  });
});

describe('what a request asks for', () => {
  test.for<[text: string, what: string]>([
    ['May I send it?\nPlease.', 'May I send it?'],
    ['\n\n## Send the mail\n', 'Send the mail'],
    ['---\ntask_id: t\n---\n\n# Send it\n', 'Send it'],
    ['\uFEFF---\r\ntask_id: t\r\n---\r\n\r\nSend it\r\n', 'Send it'],
    ['---\ntask_id: t\n---\n', 'ask.md'],
    ['', 'ask.md'],
    ['\u001b[31m\u0007\n', 'ask.md'],
    ['x'.repeat(500), `${'x'.repeat(299)}…`],
  ])('%j: %j', async ([text, what]) => {
    expect(describeRequest(await stage({ 'ask.md': text }), 'ask.md')).toBe(what);
  });
});

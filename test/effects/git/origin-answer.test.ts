import { describe, expect, test } from 'vitest';
import {
  fetchTrouble,
  readPush,
  shownUrl,
} from '../../../src/effects/git/questions/origin-answer.ts';

const URL = 'https://example.com/team/app.git';
const END = `fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
`;

describe('a fetch that failed', () => {
  test.for([
    [`remote: Repository not found.\nfatal: repository '${URL}/' not found\n`, 'no-repository'],
    [`ERROR: Repository not found.\n${END}`, 'no-repository'],
    [`git@example.com: Permission denied (publickey).\r\n${END}`, 'no-repository'],
    [
      "fatal: could not read Username for 'https://example.com': terminal prompts disabled\n",
      'no-repository',
    ],
    [`fatal: Authentication failed for '${URL}/'\n`, 'no-repository'],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 403\n`, 'no-repository'],
    ['fatal: remote error: access denied or repository not exported: /x\n', 'no-repository'],
    ["fatal: couldn't find remote ref main\n", 'no-ref'],
    [`fatal: remote error: upload-pack: not our ref ${'f'.repeat(40)}\n`, 'no-ref'],
    [`fatal: unable to access '${URL}/': The requested URL returned error: 502\n`, 'away'],
    [`fatal: unable to access '${URL}/': Could not resolve host: example.com\n`, 'away'],
    [`ssh: connect to host example.com port 22: Connection refused\n${END}`, 'away'],
    [`Host key verification failed.\n${END}`, 'away'],
    ['fatal: the remote end hung up unexpectedly\n', 'away'],
    ['', 'away'],
  ] as const)('%j is %s', ([complaint, kind]) => {
    expect(fetchTrouble(complaint, URL, 'main').kind).toBe(kind);
  });

  test('is told in one line, without what git repeats for everybody', () => {
    const refused = `ssh: connect to host example.com port 22: Connection refused\r\n${END}`;
    expect(fetchTrouble(refused, URL, 'main').why).toBe(
      `${URL} cannot be reached: connect to host example.com port 22: Connection refused.`,
    );
    expect(fetchTrouble('', URL, 'main').why).toBe(`${URL} cannot be reached: git did not finish.`);
    expect(fetchTrouble("fatal: couldn't find remote ref x\n", URL, 'x').why).toBe(
      `${URL} has no x.`,
    );
  });
});

describe('a push', () => {
  const lines = (line: string) => `To ${URL}\n${line}\nDone\n`;
  const ref = 'refs/heads/x';
  test.for([
    [`*\tabc:${ref}\t[new branch]`, 'pushed'],
    [`=\tabc:${ref}\t[up to date]`, 'pushed'],
    [` \tabc:${ref}\tabc..def`, 'pushed'],
    [`+\tabc:${ref}\tabc...def (forced update)`, 'pushed'],
    [`!\tabc:${ref}\t[rejected] (stale info)`, 'raced'],
    [
      `!\tabc:${ref}\t[remote rejected] (cannot lock ref '${ref}': reference already exists)`,
      'raced',
    ],
    [`!\tabc:${ref}\t[remote rejected] (failed to update ref)`, 'raced'],
    [`!\tabc:${ref}\t[remote rejected] (protected branch hook declined)`, 'refused'],
    [`!\tabc:${ref}\t[remote rejected] (unpacker error)`, 'refused'],
    [`!\tabc:${ref}\t[remote failure] (remote failed to report status)`, 'away'],
  ] as const)('%j is %s', ([line, kind]) => {
    expect(readPush(lines(line), '', URL, ref).kind).toBe(kind);
  });

  test.for([
    [`fatal: unable to access '${URL}/': The requested URL returned error: 403\n`, 'refused'],
    [`ERROR: Permission to team/app.git denied to ada.\n${END}`, 'refused'],
    ['error: src refspec abc does not match any\n', 'refused'],
    ['fatal: bad object abc\nerror: pack-objects died\n', 'refused'],
    ['fatal: the remote end hung up unexpectedly\n', 'away'],
    ['', 'away'],
  ] as const)('without an answer, %j is %s', ([complaint, kind]) => {
    expect(readPush('', complaint, URL, ref).kind).toBe(kind);
  });

  test.for([
    ['[remote rejected] (failure)', 'remote: \nremote: fatal error in commit_refs\n'],
    ['[remote rejected] (Internal Server Error)', ''],
    [
      '[remote rejected] (pre-receive hook declined)',
      'remote: GitLab: 500 Internal Server Error\n',
    ],
    ['[remote rejected] (pre-receive hook declined)', 'remote: GitLab: Internal API unreachable\n'],
    ['[remote rejected] (pre-receive hook declined)', 'remote: Gitea: Internal Server Error\n'],
  ])('that a service rejects by a fault of its own is tried again: %s, %j', ([summary, said]) => {
    const push = readPush(lines(`!\tabc:${ref}\t${summary}`), said ?? '', URL, ref);
    expect(push).toMatchObject({
      kind: 'away',
      why: expect.stringMatching(/ is out of order: \S/),
    });
  });

  test('that a hook declines is refused, though its words resemble those of a service', () => {
    const line = `!\tabc:${ref}\t[remote rejected] (pre-receive hook declined)`;
    const said = 'remote: keys of the internal API must not be pushed\n';
    expect(readPush(lines(line), said, URL, ref).kind).toBe('refused');
  });

  test('is told with what the hook says', () => {
    const line = `!\tabc:${ref}\t[remote rejected] (pre-receive hook declined)`;
    const said =
      'remote: \nremote: error: GH006: Protected branch update failed.\u001b[31m\nremote: more\n';
    expect(readPush(lines(line), said, URL, ref)).toEqual({
      kind: 'refused',
      why: `${URL} refused ${ref}: pre-receive hook declined (error: GH006: Protected branch update failed.).`,
    });
  });
});

test('credentials of a URL are shown nowhere', () => {
  const url = 'https://oauth2:s3cretvalue@example.com/team/app.git';
  expect(shownUrl(url)).toBe('https://example.com/team/app.git');
  expect(shownUrl('https://sometoken@example.com/app')).toBe('https://example.com/app');
  expect(shownUrl('git@example.com:team/app.git')).toBe('git@example.com:team/app.git');
  const complaint = `fatal: unable to access '${url}/': Could not resolve host: example.com\n`;
  expect(fetchTrouble(complaint, url, 'main').why).toBe(
    "https://example.com/team/app.git cannot be reached: unable to access 'https://example.com/team/app.git/': Could not resolve host: example.com.",
  );
});

import { expect, test } from 'vitest';
import {
  isRepositoryAllowed,
  patternProblem,
  repositoryProblem,
} from '../../../src/fleet/core/repository-url.ts';

test.for([
  'https://example.com/app.git',
  'https://me@example.com/app',
  'https://example.com:8443/a/b/c',
  'ssh://git@example.com/app.git',
  'ssh://example.com:2222/app',
  'git://example.com/app',
  'git@example.com:team/app.git',
  'example.com:app',
  '/srv/git/app.git',
  'file:///srv/git/app.git',
  'HTTPS://example.com/app',
  'https://example.com/a%20b',
  'git@example.com:100%2e',
])('no worker refuses %s by itself', (url) => {
  expect(repositoryProblem(url)).toBeNull();
});

test.for([
  ['', 'found an empty text'],
  ['  ', 'found an empty text'],
  ['ext::sh -c touch% /tmp/x', 'must not name a helper of git'],
  ['fd::7', 'must not name a helper of git'],
  ['transport::https://example.com/x', 'must not name a helper of git'],
  ['-uhttps://example.com/x', 'must not have a dash'],
  ['--upload-pack=touch x', 'must not have a dash'],
  ['ssh://-oProxyCommand=x/app', 'must not have a dash'],
  ['ssh://git@-oProxyCommand=x/app', 'must not have a dash'],
  ['git@-oProxyCommand=x:app', 'must not have a dash'],
  ['https://me:secret@example.com/x', 'must not have a password'],
  ['https://:secret@example.com/x', 'must not have a password'],
  ['https://me%3Asecret@example.com/x', 'must not have a password'],
  ['https://me:se@cret@example.com/x', 'must not have a password'],
  ['https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/x/y', 'must not have a password'],
  ['ssh://git:secret@example.com/x', 'must not have a password'],
  ['git:secret@example.com:x', 'must not have a password'],
  ['http://example.com/x', 'http is refused'],
  ['ftp://example.com/x', 'ftp is refused'],
  ['git+ssh://example.com/x', 'git+ssh is refused'],
  ['https:///x', 'expects a repository'],
  ['file://host/x', 'expects file:///PATH'],
  ['file:*', 'expects file://'],
  ['https:example.org/a', 'expects https://'],
  ['file:///srv/../etc', 'must not have ..'],
  ['/srv/git/../../etc', 'must not have ..'],
  ['https://example.com/acme/../other/x', 'must not have ..'],
  ['https://example.com/acme/%2e%2E/other', 'must not have ..'],
  ['git@example.com:../x', 'must not have ..'],
  ['ssh://evil.com%2F@git.example.org/team/x', 'must have no % in its user and host'],
  ['ssh://git.example.org%2Fx/team/x', 'must have no % in its user and host'],
  ['git://evil.com%2f@git.example.org/team/x', 'must have no % in its user and host'],
  ['ssh://git.example.org/team/..%2fsecret', 'must not encode dots, slashes'],
  ['ssh://git.example.org/team/.%2E/secret', 'must not have ..'],
  ['ssh://git.example.org/team/x%2Egit', 'must not encode dots, slashes'],
  ['https://git.example.org/team/..%5csecret', 'must not encode dots, slashes'],
  ['file:///srv/git/x%00/y', 'must not encode dots, slashes'],
  ['git://git.example.org/x%0ahost=evil.com', 'must not encode dots, slashes'],
  ['https://example.com/a b', 'must have no spaces'],
  ['https://example.com\\@other.com/x', 'must have no spaces'],
  ['https://example.com/a\nb', 'must have no spaces'],
  ['https://other.com?@example.com/team/x', 'must have no ? and no #'],
  ['https://other.com#@example.com/team/x', 'must have no ? and no #'],
  ['app', 'expects a repository'],
  ['./app', 'expects a repository'],
  ['~/app', 'expects a repository'],
] as const)('every worker refuses %j: %s', ([url, why]) => {
  expect(repositoryProblem(url)).toContain(why);
  expect(isRepositoryAllowed(url, null)).toBe(false);
  expect(isRepositoryAllowed(url, [url])).toBe(false);
});

test('no encoded slash leads past a pattern', () => {
  const patterns = ['ssh://git.example.org/team/*'];
  for (const url of [
    'ssh://evil.com%2F@git.example.org/team/x',
    'ssh://git.example.org/team/..%2fsecret',
  ]) {
    expect(isRepositoryAllowed(url, patterns)).toBe(false);
  }
});

test('no refusal repeats the password', () => {
  expect(repositoryProblem('https://me:hunter2@example.com/x')).not.toContain('hunter2');
});

test.for([
  ['https://example.com/app', true],
  ['ssh://git@example.com/app', true],
  ['git://example.com/app', true],
  ['/srv/git/app', false],
  ['file:///srv/git/app', false],
] as const)('without patterns %s is allowed: %s', ([url, isAllowed]) => {
  expect(isRepositoryAllowed(url, null)).toBe(isAllowed);
});

test.for([
  ['https://example.com/acme/*', 'https://example.com/acme/app', true],
  ['https://example.com/acme/*', 'https://example.com/acme/group/app', true],
  ['https://example.com/acme/*', 'https://me@example.com/acme/app', true],
  ['https://example.com/acme/*', 'https://EXAMPLE.com/acme/app', true],
  ['https://example.com/acme/*', 'https://example.com/other/app', false],
  ['https://example.com/acme/*', 'https://example.com/acme', false],
  ['https://example.com/acme/*', 'https://example.com.evil.org/acme/app', false],
  ['https://example.com/acme/*', 'https://example.com:444/acme/app', false],
  ['https://example.com/acme/*', 'ssh://example.com/acme/app', false],
  ['https://example.com', 'https://example.com/anything/at/all', true],
  ['https://*.example.com/*', 'https://git.example.com/x', true],
  ['https://*.example.com/*', 'https://evil.org/x.example.com/y', false],
  ['https://*.example.com/*', 'https://evil.org@git.example.com/x', true],
  ['https://*/acme/*', 'https://example.com/acme/x', true],
  ['https://*/acme/*', 'https://example.com/x/acme/x', false],
  ['ssh://git@example.com/*', 'ssh://git@example.com/x', true],
  ['ssh://git@example.com/*', 'ssh://root@example.com/x', false],
  ['git@example.com:acme/*', 'git@example.com:acme/app.git', true],
  ['git@example.com:acme/*', 'git@example.com:other/app.git', false],
  ['git@example.com:acme/*', 'ssh://git@example.com/acme/app.git', false],
  ['/srv/git/*', '/srv/git/app.git', true],
  ['/srv/git/*', '/srv/other/app.git', false],
  ['/srv/git/*', 'file:///srv/git/app.git', false],
  ['file:///srv/git/*', 'file:///srv/git/app.git', true],
  ['https://example.com/a.c', 'https://example.com/abc', false],
] as const)('the pattern %s, for %s: %s', ([pattern, url, isAllowed]) => {
  expect(patternProblem(pattern)).toBeNull();
  expect(isRepositoryAllowed(url, ['https://nothing.example/x', pattern])).toBe(isAllowed);
});

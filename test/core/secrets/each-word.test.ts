import { expect, test } from 'vitest';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';

// Each word of a rule has a text here that only this word masks, or keeps from being masked.

const MASK = '…[masked]';

/** Those of some texts that are not masked as they should be; a text shows the secret as #. */
function wrong(texts: readonly string[], secret: string): readonly string[] {
  const of = (text: string, value: string): string => text.replace('#', () => value);
  const masked = texts.map((text) => [maskSecrets(of(text, secret)), of(text, MASK)]);
  return masked.filter(([found, expected]) => found !== expected).map(([found = '']) => found);
}

/** Those of some texts that do not stay as they are. */
function changed(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => maskSecrets(text) !== text);
}

const words = (text: string): readonly string[] => text.split(' ');

test('each name of a field', () => {
  const names = words('passwd passphrase passwort credential credentials');
  expect(
    wrong(
      names.map((name) => `db_${name}: "#"`),
      'hunter2-x',
    ),
  ).toEqual([]);
});

test('each type between a name and its value', () => {
  const types = ['string', 'String', 'str', '&str', "&'static str"];
  expect(
    wrong(
      types.map((type) => `let password: ${type} = "#";`),
      'hunter2-x',
    ),
  ).toEqual([]);
  expect(wrong(['password := "#"', '"password" => "#"'], 'hunter2-x')).toEqual([]);
});

test('each kind of quotes, with an escaped sign in it', () => {
  const values = [`'a\\'b`, '`a\\`b'].map((start) => [start, start.charAt(0)] as const);
  expect(values.map(([start, end]) => maskSecrets(`password: ${start}1234${end} x`))).toEqual([
    `password: '${MASK}' x`,
    `password: \`${MASK}\` x`,
  ]);
});

test('each flag for a password', () => {
  const ofKeys = words('access auth private account api secret').map((kind) => `${kind}-key`);
  const kinds = [...words('passwd passphrase passwort pwd credentials'), ...ofKeys];
  const secret = ['Xk29fLq8', 'Zw3mN7pR'].join('');
  expect(
    wrong(
      kinds.map((kind) => `tool --db-${kind} # x`),
      secret,
    ),
  ).toEqual([]);
});

test('each program with a flag of its own for a password', () => {
  const programs = [
    ...words('admin import check show sh').map((kind) => `mysql${kind} -u root -p# db`),
    ...words('docker podman az oc').map((name) => `${name} login -u me -p # x`),
    ...words('dump restore export import sh').map((kind) => `mongo${kind} -u me -p # db`),
    ...words('search modify add delete passwd whoami').map((kind) => `ldap${kind} -D cn=me -w #`),
  ];
  expect(wrong(programs, 'hunter2x')).toEqual([]);
});

test('each program to which -u gives a name and a password, or something else', () => {
  const programs = words('curl http https xh wget ab siege hey');
  expect(
    wrong(
      programs.map((name) => `${name} -u me:# x`),
      'hunter',
    ),
  ).toEqual([]);
  const others = [
    ...words('docker podman nerdctl kubectl rsync scp git chown install su sudo runuser setpriv'),
    ...words('gosu systemd-run sort date touch python python3 node'),
  ];
  expect(changed(others.map((name) => `${name} -u me:Hunter2x`))).toEqual([]);
  // What ends its command.
  const ends = ['\n', '\\n', ';', '|', '&&'];
  expect(
    wrong(
      ends.map((end) => `docker ps${end} x -u me:#`),
      'Hunter2x',
    ),
  ).toEqual([]);
});

test('each word of a message about a password', () => {
  const message = [
    ...words('password passwort passphrase passcode passwords please bitte enter type your you'),
    ...words('must should cannot can not is are was were has have if when the a an for to of'),
    ...words('character characters required optional invalid wrong incorrect missing match'),
    ...words('matches field fields forgot forgotten reset change changed confirm repeat weak'),
    ...words('short long expired new old current'),
    'at least',
  ];
  expect(changed(message.map((word) => `password: "zyx ${word} 12 zyx"`))).toEqual([]);
  expect(wrong(['password: "#"'], 'zyx qrs 12 zyx')).toEqual([]);
});

test('each word that describes a field', () => {
  const described = [
    ...words('string text str number boolean bool any unknown object required optional password'),
    ...words('passwort passwd passphrase secret token key empty missing invalid wrong hidden type'),
    ...words('name value test pass passed fail failed yes no ok on off'),
  ];
  expect(changed(described.map((word) => `password: "${word}"`))).toEqual([]);
  expect(wrong(['password: "#"'], 'qrs')).toEqual([]);
});

test('each line of a private key that says something about it', () => {
  const names = words('Proc-Type DEK-Info Version Comment Charset');
  const begin = ['-----BEGIN', 'PRIVATE KEY-----'].join(' ');
  const key = (name: string): string => `${begin}\n${name}: 4 of, it\nAAAAB3NzaC1yc2E\nZZ`;
  expect(names.map((name) => maskSecrets(key(name)))).toEqual(names.map(() => `${begin}${MASK}`));
});

test('each port, and each service that signs a URL', () => {
  const ports = ['5432', '5433', '6432', '*'];
  expect(
    wrong(
      ports.map((port) => `db:${port}:app:me:#`),
      'hunter',
    ),
  ).toEqual([]);
  const signed = ['sig', 'X-Amz-Signature', 'X-Goog-Signature'];
  expect(
    wrong(
      signed.map((name) => `https://a.example/b?${name}=#`),
      '0af3'.repeat(16),
    ),
  ).toEqual([]);
});

test('each value of -p that is no password', () => {
  const values = ['-h', '8080', '8080:80', '127.0.0.1:80'];
  expect(changed(values.map((value) => `docker login -p ${value}`))).toEqual([]);
});

test('a word begins after an escape, and after the end of another secret', () => {
  const before = ['"\\n#"', 'a%3D#', '\\u001b[31m#', `sig=${'a1'.repeat(25)}=#`];
  const masked = before.map((text) => maskSecrets(text.replace('#', `ghp_${'aB3'.repeat(8)}`)));
  for (const text of masked) expect(text).toContain(`ghp_${MASK}`);
  expect(changed([`xghp_${'aB3'.repeat(8)}`])).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import { maskDeep, maskLine, maskLines, maskSecrets } from '../../../src/core/secrets/secrets.ts';

// No line here holds a real credential; each is put together where it is needed, so that no scanner
// of this repository takes it for one.
const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6iJ9';
const random = (length: number): string => letters.repeat(8).slice(0, length);
const digits = (length: number): string => '4819305726'.repeat(8).slice(0, length);
const join = (...parts: readonly string[]): string => parts.join('');
/** `#{…}` as a template has it. */
const braced = (text: string): string => text.replaceAll('#{', '$'.concat('{'));
const base64Line = `${random(39)}${random(25)}`;
const pem = (kind: string): readonly [string, string] => [
  join('-----BEGIN ', kind, 'PRIVATE KEY-----'),
  join('-----END ', kind, 'PRIVATE KEY-----'),
];
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NSJ9', random(43)].join('.');

const secrets: readonly (readonly [string, string, string])[] = [
  ['Anthropic API key', join('sk-ant-', 'api03-', random(93), 'AA'), 'sk-ant-api03-…[masked]'],
  ['Anthropic OAuth token', join('sk-ant-', 'oat01-', random(90)), 'sk-ant-oat01-…[masked]'],
  ['OpenAI key', join('sk-', random(48)), 'sk-…[masked]'],
  ['OpenAI project key', join('sk-', 'proj-', random(60), '-_', random(60)), 'sk-proj-…[masked]'],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map(
    (prefix) => ['GitHub token', join(prefix, random(36)), `${prefix}…[masked]`] as const,
  ),
  [
    'GitHub fine-grained',
    join('github', '_pat_', random(22), '_', random(59)),
    'github_pat_…[masked]',
  ],
  ['GitLab token', join('glpat', '-', random(20)), 'glpat-…[masked]'],
  ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'].map(
    (prefix) =>
      ['Slack token', join(prefix, digits(12), '-', random(24)), `${prefix}…[masked]`] as const,
  ),
  ['AWS id', join('AKIA', 'IOSFODNN7QWERTYZ'), 'AKIA…[masked]'],
  ['AWS temporary id', join('ASIA', 'IOSFODNN7QWERTYZ'), 'ASIA…[masked]'],
  ['AWS id and key', join('AKIA', 'IOSFODNN7QWERTYZ', ',', random(40)), 'AKIA…[masked]'],
  ['Google key', join('AIza', random(35)), 'AIza…[masked]'],
  ['Google token', join('ya29', '.', random(60), '-_'), 'ya29.…[masked]'],
  ['Stripe key', join('sk_', 'live_', random(24)), 'sk_live_…[masked]'],
  ['Stripe restricted key', join('rk_', 'live_', random(24)), 'rk_live_…[masked]'],
  ['npm token', join('npm', '_', random(36)), 'npm_…[masked]'],
  ['PyPI token', join('pypi', '-', random(120)), 'pypi-…[masked]'],
  ['HuggingFace token', join('hf', '_', random(34)), 'hf_…[masked]'],
  ['JSON web token', jwt, 'eyJ…[masked]'],
  ['JSON web token cut off', jwt.slice(0, 30), 'eyJ…[masked]'],
  ['a short word of .netrc', 'login bob password a1b2', 'login bob password …[masked]'],
  ['URL with a password', 'https://bob:hunter2@host/x', 'https://bob:…[masked]@host/x'],
  ['database URL', 'postgres://u:p%40ss@db:5432/x', 'postgres://u:…[masked]@db:5432/x'],
  ['URL without a user', 'redis://:hunter2@cache', 'redis://:…[masked]@cache'],
  ['URL with a token', `https://${random(30)}@dev.example/x`, 'https://…[masked]@dev.example/x'],
  ['bearer header', `Authorization: Bearer ${random(30)}`, 'Authorization: Bearer …[masked]'],
  ['basic header', 'authorization: Basic dXNlcjpwYXNz', 'authorization: Basic …[masked]'],
  [
    'header in JSON',
    `{"Authorization":"Bearer ${random(20)}"}`,
    '{"Authorization":"Bearer …[masked]"}',
  ],
  ['header without a scheme', `Authorization: ${random(32)}`, 'Authorization: …[masked]'],
  ['header of a command', `-H "x-api-key: ${random(20)}"`, '-H "x-api-key: …[masked]"'],
  ['lone bearer', `Bearer ${random(20)}`, 'Bearer …[masked]'],
  ['environment line', 'API_KEY=abc123def456', 'API_KEY=…[masked]'],
  ['environment line, plain word', 'DB_PASSWORD=postgres', 'DB_PASSWORD=…[masked]'],
  ['environment line, odd signs', 'DB_PASSWORD=p@s,s(w0rd)&x', 'DB_PASSWORD=…[masked]'],
  ['exported', "export DB_PASSWORD='letmein'", "export DB_PASSWORD='…[masked]'"],
  ['exported words', 'ROOT_PASSWORD="correct horse"', 'ROOT_PASSWORD="…[masked]"'],
  [
    'docker argument',
    'docker run -e MYSQL_PASSWORD=hunter2 x',
    'docker run -e MYSQL_PASSWORD=…[masked] x',
  ],
  ['JSON', '"client_secret": "a1b2c3d4"', '"client_secret": "…[masked]"'],
  [
    'JSON without spaces',
    '{"a":1,"password":"letmein","b":2}',
    '{"a":1,"password":"…[masked]","b":2}',
  ],
  ['JSON in JSON', '{\\"password\\":\\"hunter2\\"}', '{\\"password\\":\\"…[masked]\\"}'],
  ['a quote in it', '"password": "a\\"b1c"', '"password": "…[masked]"'],
  ['YAML', 'password: hunter2', 'password: …[masked]'],
  ['a sentence', 'The password: hunter2.', 'The password: …[masked].'],
  ['TypeScript', `const apiKey: string = '${random(12)}';`, "const apiKey: string = '…[masked]';"],
  ['Python', 'db_password = "hunter2"', 'db_password = "…[masked]"'],
  ['keyword argument', 'connect(password="hunter2")', 'connect(password="…[masked]")'],
  ['flag', `tool --token=${random(20)} x`, 'tool --token=…[masked] x'],
  ['query', `https://h/x?access_token=${random(20)}&y=1`, 'https://h/x?access_token=…[masked]&y=1'],
  ['AWS secret', `aws_secret_access_key = ${random(39)}/`, 'aws_secret_access_key = …[masked]'],
  ['AWS secret in JSON', `"SecretAccessKey": "${random(40)}"`, '"SecretAccessKey": "…[masked]"'],
  ['Azure', `AccountKey=${random(86)}==;x`, 'AccountKey=…[masked];x'],
  ['message', `invalid api key: ${random(20)}`, 'invalid api key: …[masked]'],
  ['npmrc', `//registry/:_authToken=${random(36)}`, '//registry/:_authToken=…[masked]'],
  ['docker config', '"auth": "dXNlcjpwYXNzd29yZDEy"', '"auth": "…[masked]"'],
  ['generic random key', `key: '${random(32)}'`, "key: '…[masked]'"],
  ['after an escape', join('x\\n', 'ghp_', random(36)), 'x\\nghp_…[masked]'],
  ['encoded', join('t%3D', 'ghp_', random(36)), 't%3Dghp_…[masked]'],
];

describe('maskSecrets', () => {
  test.for(secrets)('masks: %s', ([, text, expected]) => {
    expect(maskSecrets(text)).toBe(expected);
    expect(maskSecrets(`before\n${text}\nafter`)).toBe(`before\n${expected}\nafter`);
  });

  test.for([
    'src/core/task-state.ts:12: const key = 1',
    '/etc/passwd:12:root:x:0:0',
    'commit 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b',
    '550e8400-e29b-41d4-a716-446655440000',
    `sha512-${'a'.repeat(20)}+/${'B'.repeat(60)}==`,
    'input_tokens: 123',
    '"input_tokens": 123, "output_tokens": 4567890',
    'max_tokens=5',
    'tokens: 5',
    'token: 12345678',
    'task-123',
    'task-abcdefghijklmnopqrstuvwxyz1',
    'sk-learn',
    're_compute_the_whole_index_table',
    'scikit sk-learn-contrib and disk-abcdefghijklmnopqrstuvwx',
    'npm_config_cache',
    'npm_config',
    'see hf_hub',
    'pip install pypi-simple',
    '**token**: the next one',
    '| token | key |',
    'key: string',
    'token: string;',
    'readonly key: string | null;',
    'apiKey: string = getKey2()',
    'password: z.string().min(12)',
    'password: Uint8Array',
    'const token = tokens[0]',
    'const token = await readToken2(file)',
    'apiKey: config.apiKey2,',
    'apiKey: process.env.API_KEY2',
    'const secret = this.secret1.value',
    "credentials: 'same-origin'",
    'credentials: include',
    "{ key: 'Enter' }",
    "{ key: 'item-12' }",
    'key: node-modules-v1',
    'primaryKey: 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b',
    'monkey: abc123def456',
    'the password is wrong',
    'password: wrong',
    'Wrong password: try again',
    '"password": "Please enter your password"',
    '"password": "string"',
    'Unexpected token: eof',
    'Unexpected token } in JSON at position 12',
    'API_KEY=$VAR1',
    braced('API_KEY=#{SECRET_1}'),
    braced('API_KEY="#{SECRET_1}"'),
    braced('password: #{{ secrets.DB_1 }}'),
    'password: {{ .Values.password1 }}',
    'API_KEY=<your-key-1>',
    'API_KEY=your-api-key-1',
    'API_KEY=xxx',
    'API_KEY=xxxxxxxxxxxx',
    'API_KEY=***',
    'API_KEY=',
    'API_KEY=\nNEXT_1=abc12345',
    'API_KEY=null',
    'password: null',
    'secret: true',
    'password=false',
    'private_key: ~/.ssh/id_ed25519',
    'PASSWORD=/run/secrets/db_1',
    'export PWD=/home/bob1',
    'token: https://example.com/a1',
    'sk-ant-api03-',
    'sk-...',
    'Authorization: required',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer <token-1>',
    'Authorization: Bearer token',
    'Bearer authentication',
    'https://github.com/a/b@v1.2',
    'https://host:8080/x',
    'git@github.com:a/b.git',
    'ssh://git@github.com/a/b',
    'https://user:$PASS@host',
    'https://unpkg.com/react@18.2.0/index.js',
    braced('postgres://#{user}:#{pass}@host'),
    '<promise>TASK_COMPLETE</promise>',
    'if (text.includes("-----BEGIN PRIVATE KEY-----")) return;\n\nNext line',
    '20260131_120000_123456',
  ])('leaves: %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
    expect(maskSecrets(`${text}\n\n- done\n`)).toBe(`${text}\n\n- done\n`);
  });

  test('masks every value of an environment file, but none of the names', () => {
    const text = 'HOST=db\nDB_PASSWORD=abc\nPORT=5432\nAPI_TOKEN="a1b2c3d4"\n# key: none\n';
    const expected =
      'HOST=db\nDB_PASSWORD=…[masked]\nPORT=5432\nAPI_TOKEN="…[masked]"\n# key: none\n';
    expect(maskSecrets(text)).toBe(expected);
  });

  describe('private keys', () => {
    const [begin, end] = pem('RSA ');
    const body = Array.from({ length: 20 }, () => base64Line).join('\n');

    test.for([
      ['whole', `${begin}\n${body}\nAbC=\n${end}\nafter`, `${begin}…[masked]\nafter`],
      ['in an escaped text', `"${begin}\\n${base64Line}\\n${end}\\n"`, `"${begin}…[masked]\\n"`],
      ['cut off', `x\n${begin}\n${body}\nAbC`, `x\n${begin}…[masked]`],
      ['cut off with dots', `x\n${begin}\n${body}\nAbC…`, `x\n${begin}…[masked]…`],
      ['cut off escaped', `${begin}\\n${base64Line}\\nAbC`, `${begin}…[masked]`],
      [
        'cut off before other text',
        `${begin}\n${body}\n\nNow I go on.`,
        `${begin}…[masked]\n\nNow I go on.`,
      ],
      [
        'encrypted',
        `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,12\n\n${body}\n`,
        `${begin}…[masked]\n`,
      ],
      [
        'two of them',
        `${begin}\n${body}\n${end}\n${begin}\n${body}\n${end}`,
        `${begin}…[masked]\n${begin}…[masked]`,
      ],
    ] as const)('are masked: %s', ([, text, expected]) => {
      expect(maskSecrets(text)).toBe(expected);
      expect(maskSecrets(expected)).toBe(expected);
    });

    test('of every kind are masked', () => {
      for (const kind of ['', 'EC ', 'OPENSSH ', 'ENCRYPTED ', 'DSA ']) {
        const [first, last] = pem(kind);
        expect(maskSecrets(`${first}\n${body}\n${last}`)).toBe(`${first}…[masked]`);
      }
      const pgp = join('-----BEGIN PGP ', 'PRIVATE KEY BLOCK-----');
      expect(maskSecrets(`${pgp}\n\n${body}`)).toBe(`${pgp}…[masked]`);
    });
  });

  test('changes nothing the second time', () => {
    for (const [, text] of secrets) {
      const once = maskSecrets(text);
      expect(maskSecrets(once)).toBe(once);
    }
    const all = maskSecrets(secrets.map(([, text]) => text).join(' '));
    expect(maskSecrets(all)).toBe(all);
  });

  test('masks the rest of a secret that was cut off', () => {
    for (const [, text] of secrets.slice(0, 25)) {
      const from = /^[a-zA-Z]+[a-z0-9]*[-_.]?(?:[a-z]+\d*[-_])*/.exec(text)?.[0].length ?? 0;
      const cut = text.slice(0, Math.min(from + 12, text.length - 1));
      for (const ending of ['', '…', '...']) {
        expect(maskSecrets(`key is ${cut}${ending}`), cut).toContain('…[masked]');
      }
    }
    expect(maskSecrets('API_KEY=abc123de…')).toContain('=…[masked]');
    expect(maskSecrets('{"password": "hunter')).toBe('{"password": "…[masked]');
  });
});

describe('a credential with invisible characters in it', () => {
  const hidden = [
    ['a zero-width space', '\u200b'],
    ['a word joiner', '\u2060'],
    ['a byte order mark', '\ufeff'],
    ['a soft hyphen', '\u00ad'],
    ['a tag', '\u{e0061}'],
    ['a direction mark', '\u202e'],
    ['a control', '\u0007'],
    ['a colour', '\u001b[31m'],
    ['a title', '\u001b]0;x\u0007'],
  ] as const;
  const half = random(18);

  test.for(hidden)('is masked: %s', ([, sign]) => {
    const token = `${join('gh', sign, 'p_')}${half}${sign}${half}`;
    expect(maskSecrets(`It is ${token}.`)).toBe('It is ghp_…[masked].');
    expect(maskLine(`${base64Line.slice(0, 30)}${sign}${base64Line.slice(30)}`)).toBe('…[masked]');
    expect(maskDeep({ list: [token], password: `let${sign}mein` })).toEqual({
      list: ['ghp_…[masked]'],
      password: '…[masked]',
    });
  });

  test.for(hidden)('leaves a text without a credential unchanged: %s', ([, sign]) => {
    const text = `a${sign}b, and a path/${sign}c`;
    expect(maskSecrets(text)).toBe(text);
  });
});

describe('maskLines', () => {
  test('masks each line as a part of a longer text', () => {
    expect(maskLines(`a\n${base64Line}\n${join('ghp_', random(36))}\n`)).toBe(
      'a\n…[masked]\nghp_…[masked]\n',
    );
  });
});

describe('maskDeep', () => {
  test('masks every string and keeps everything else', () => {
    const token = join('ghp_', random(36));
    const event = {
      event: 'task_completed',
      usage: { cost_usd: 0.5, input_tokens: 12 },
      final_message: `It is ${token}.`,
      list: ['plain', token, null, true, 3],
      password: 'letmein',
      token: 'string',
    };
    expect(maskDeep(event)).toEqual({
      event: 'task_completed',
      usage: { cost_usd: 0.5, input_tokens: 12 },
      final_message: 'It is ghp_…[masked].',
      list: ['plain', 'ghp_…[masked]', null, true, 3],
      password: '…[masked]',
      token: 'string',
    });
  });

  test('does not change its argument', () => {
    const data = { a: [join('ghp_', random(36))] };
    const copy = structuredClone(data);
    maskDeep(data);
    expect(data).toEqual(copy);
    expect(maskDeep(null)).toBeNull();
    expect(maskDeep(7)).toBe(7);
  });
});

describe('a line of a longer text', () => {
  const KEY = 'MIIEowIBAAKCAQEA7bq0ZQ1mYd3sVn5F1c2kLr8Jt6W0xPzHqXyTgUaBvCdEfGhI';

  test.for([KEY, `  ${KEY}  `, `${KEY.slice(0, 62)}==`])(
    'of a private key is masked: %j',
    (line) => {
      expect(maskLine(line)).toBe('…[masked]');
    },
  );

  test.for([
    'I read the file.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'src/core/secrets/secrets.ts',
    'aVeryLongNameOfAFunctionThatSomebodyHasMadeUpAndNobodyWillEverType',
    `before ${KEY}`,
  ])('that is something else stays: %j', (line) => {
    expect(maskLine(line)).toBe(line);
  });
});

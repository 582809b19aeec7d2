import { expect, test } from 'vitest';
import { droppedVariables } from '../../../src/core/sandbox/dropped-variables.ts';

/** Names that CI systems, clouds and tools give to variables with secrets. */
const SECRETS = [
  // Clouds.
  ...['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK'],
  ...['AZURE_CLIENT_SECRET', 'AZURE_STORAGE_KEY', 'AZURE_STORAGE_CONNECTION_STRING'],
  ...['ARM_CLIENT_SECRET', 'ARM_ACCESS_KEY', 'GOOGLE_APPLICATION_CREDENTIALS', 'GCP_SA_KEY'],
  ...['GCP_SA_KEY_JSON', 'FIREBASE_SERVICE_ACCOUNT_JSON', 'DIGITALOCEAN_ACCESS_TOKEN'],
  ...['CLOUDFLARE_API_KEY', 'CF_API_TOKEN', 'HCLOUD_TOKEN', 'LINODE_TOKEN', 'SCW_SECRET_KEY'],
  ...['HEROKU_API_KEY', 'FLY_API_TOKEN', 'VERCEL_TOKEN', 'NETLIFY_AUTH_TOKEN', 'TF_TOKEN_app'],
  ...['TF_VAR_db_password', 'PULUMI_CONFIG_PASSPHRASE', 'VAULT_TOKEN', 'VAULT_SECRET_ID'],
  ...['SOPS_AGE_KEY', 'TS_AUTHKEY', 'OP_SERVICE_ACCOUNT_TOKEN', 'OP_SESSION_my', 'BW_SESSION'],
  // Databases and what keeps data.
  ...['PGPASSWORD', 'MYSQL_PWD', 'MYSQL_ROOT_PASSWORD', 'DB_PASSWORD', 'DB_PASS', 'DB_PW'],
  ...['REDISPASS', 'MONGO_INITDB_ROOT_PASSWORD', 'REDIS_AUTH', 'MINIO_ROOT_PASSWORD'],
  ...['ConnectionStrings__Default', 'RABBITMQ_ERLANG_COOKIE', 'RESTIC_PASSWORD'],
  ...['BORG_PASSPHRASE', 'ELASTIC_API_KEY', 'SUPABASE_SERVICE_ROLE_KEY', 'SUPABASE_JWT'],
  // Forges and CI.
  ...['GITHUB_TOKEN', 'GH_PAT', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'],
  ...['CI_JOB_TOKEN', 'CI_JOB_JWT_V2', 'CI_DEPLOY_PASSWORD', 'SYSTEM_ACCESSTOKEN'],
  ...['BUILDKITE_AGENT_ACCESS_TOKEN', 'BITBUCKET_STEP_OIDC_TOKEN', 'AZURE_DEVOPS_EXT_PAT'],
  ...['CODECOV_TOKEN', 'SONAR_TOKEN', 'SNYK_TOKEN', 'TURBO_TOKEN', 'NX_CLOUD_ACCESS_TOKEN'],
  ...['SSH_PRIVATE_KEY', 'DEPLOY_KEY', 'SSHPASS', 'SSH_DEPLOY_KEY_PEM', 'GPG_PASSPHRASE'],
  ...['SIGNING_KEY_BASE64', 'KEYSTORE_BASE64', 'FASTLANE_SESSION', 'MATCH_PASSWORD'],
  // Registries.
  ...['NPM_TOKEN', 'NODE_AUTH_TOKEN', 'npm_config__auth', 'npm_config__password', 'YARN_TOKEN'],
  ...['npm_config_//registry.npmjs.org/:_authToken', 'TWINE_PASSWORD', 'CARGO_REGISTRY_TOKEN'],
  ...['GEM_HOST_API_KEY', 'BUNDLE_GEMS__EXAMPLE__COM', 'NUGET_API_KEY', 'COMPOSER_AUTH'],
  ...['DOCKER_AUTH_CONFIG', 'DOCKER_PASSWORD', 'POETRY_PYPI_TOKEN_PYPI', 'HF_TOKEN', 'KAGGLE_KEY'],
  // Chat, mail and payment.
  ...['SLACK_WEBHOOK_URL', 'SLACK_BOT_TOKEN', 'DISCORD_WEBHOOK', 'TELEGRAM_BOT_TOKEN'],
  ...['SENDGRID_API_KEY', 'TWILIO_AUTH_TOKEN', 'SMTP_PASS', 'MAILGUN_APIKEY', 'SENTRY_DSN'],
  ...['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'PAYPAL_CLIENT_SECRET', 'WALLET_MNEMONIC'],
  // A program's own.
  ...['SECRET_KEY_BASE', 'APP_KEY', 'JWT_SECRET', 'SESSION_COOKIE', 'encryption-key', 'dbPassword'],
  ...['stripe.apiKey', 'clientSecret', 'OPENAI_API_KEY', 'OPENAI_API_KEY_2', 'API_KEY_PROD'],
  ...[
    'DB_CREDS',
    'ADMIN_PASSWORT',
    'LOGIN_PASSCODE',
    'SERVICE_CREDENTIALS',
    'API_KEYS',
    'NEXT_PUBLIC_SECRET',
    'WIFI_PSK',
    'AUTH_SALT',
  ],
];

/** What is in the environment of developers and of CI. */
const ORDINARY: Readonly<Record<string, string>> = {
  ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/u', USER: 'u', SHELL: '/bin/zsh' },
  ...{ PWD: '/home/u/w', OLDPWD: '/home/u', LANG: 'en_GB.UTF-8', LC_ALL: 'C', TZ: 'UTC' },
  ...{ TERM: 'xterm-256color', COLORTERM: 'truecolor', EDITOR: 'vim', PAGER: 'less', SHLVL: '2' },
  ...{ HOSTNAME: 'box', LOGNAME: 'u', DISPLAY: ':0', XAUTHORITY: '/home/u/.Xauthority' },
  ...{ XDG_RUNTIME_DIR: '/run/user/1000', XDG_SESSION_ID: '3', DESKTOP_SESSION: 'gnome' },
  ...{ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus', TMUX_PANE: '%1' },
  ...{ SSH_CONNECTION: '10.0.0.2 50022 10.0.0.1 22', SSH_TTY: '/dev/pts/0', SSH_ASKPASS: '/bin/a' },
  ...{ GPG_TTY: '/dev/pts/0', GPG_KEY: 'A035C8C19219BA821ECEA86B64E628F8D684696D', EMAIL: 'a@b.c' },
  ...{ GIT_AUTHOR_NAME: 'Ann', GIT_ASKPASS: 'echo', GIT_CONFIG_COUNT: '1', PS1: '\\u@\\h:\\w\\$ ' },
  ...{ GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '/w', CI: 'true' },
  ...{ JAVA_HOME: '/usr/lib/jvm/21', GOPATH: '/home/u/go', CARGO_HOME: '/home/u/.cargo' },
  ...{ NODE_ENV: 'test', NODE_OPTIONS: '--max-old-space-size=4096', NVM_DIR: '/home/u/.nvm' },
  ...{ PYTHONPATH: 'src', VIRTUAL_ENV: '/home/u/w/.venv', PYTHONHASHSEED: '0' },
  ...{ npm_config_cache: '/home/u/.npm', npm_config_user_agent: 'npm/10.9.2 node/v22.14.0' },
  ...{ npm_config_registry: 'https://registry.npmjs.org/', npm_lifecycle_event: 'test' },
  ...{ npm_package_json: '/home/u/w/package.json', npm_package_name: 'w', INIT_CWD: '/home/u/w' },
  ...{ npm_config_init_author_email: 'ann@example.com', COREPACK_ENABLE_STRICT: '0' },
  ...{ TOKENIZERS_PARALLELISM: 'false', MAX_THINKING_TOKENS: '4096', BYPASS: 'yes' },
  ...{ CLAUDE_CODE_MAX_OUTPUT_TOKENS: '32000', CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1' },
  ...{ CLAUDE_CODE_API_KEY_HELPER_TTL_MS: '60000', ANTHROPIC_MODEL: 'claude-opus-4-1' },
  ...{ ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000/v1', AWS_REGION: 'eu-west-1' },
  ...{ AWS_PROFILE: 'work', AWS_SHARED_CREDENTIALS_FILE: '/home/u/.aws/credentials' },
  ...{ AWS_ROLE_SESSION_NAME: 'ci', KUBECONFIG: '/home/u/.kube/config', DOCKER_BUILDKIT: '1' },
  ...{ GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '1658821493', GITHUB_SHA: `${'6dcb09b5'.repeat(5)}` },
  ...{ GITHUB_REPOSITORY: 'o/r', GITHUB_ACTOR: 'ann', GITHUB_WORKFLOW: 'test', GITHUB_JOB: 'unit' },
  ...{ GITHUB_EVENT_PATH: '/home/runner/work/event.json', GITHUB_SERVER_URL: 'https://github.com' },
  ...{ GITHUB_REF: 'refs/heads/main', RUNNER_OS: 'Linux', RUNNER_TOOL_CACHE: '/opt/tools' },
  ...{
    CI_COMMIT_SHA: `${'a1b2c3d4'.repeat(5)}`,
    CI_PIPELINE_ID: '77',
    CI_PROJECT_DIR: '/builds/o/r',
  },
  ...{
    CI_JOB_URL: 'https://gitlab.com/o/r/-/jobs/7',
    BUILDKITE_BRANCH: 'main',
    CIRCLE_SHA1: 'abc',
  },
  ...{ HTTP_PROXY: 'http://proxy.example.com:3128', NO_PROXY: 'localhost,127.0.0.1' },
  ...{ DATABASE_URL: 'postgres://localhost:5432/app?sslmode=require', DB_HOST: 'db', DB_PORT: '1' },
  ...{ PASSWORD_STORE_DIR: '/home/u/.password-store', TOKEN_TTL: '3600', JWT_PUBLIC_KEY: 'pem' },
  ...{
    SECRET_NAME: 'prod/db',
    API_KEY_ID: 'k1',
    TLS_KEY_FILE: '/etc/tls.key',
    CACHE_KEY: 'v1-abc',
  },
  ...{ STRIPE_PUBLISHABLE_KEY: 'pk_test_51H8abcdefghij', AUTH_ENABLED: 'true', KEY_SIZE: '2048' },
  ...{ OAUTH_TOKEN_URL: 'https://id.example.com/token', SECRETS_PATH: '/run/secrets' },
  ...{ WEBHOOK_PORT: '8080', TOKEN_LIMIT: '5', TABLE_PRIMARY_KEY: 'id' },
  ...{ RALPH_TASK_ID: 'token-work', RALPH_STATE_FILE: '/w/.ralph_state/t.json' },
};

/** A value that no list of forms knows. */
const PLAIN = 'x';

test('a name that says secret is enough, whatever the value', () => {
  const env = Object.fromEntries(SECRETS.map((name) => [name, PLAIN]));
  expect(SECRETS.filter((name) => !droppedVariables(env, []).includes(name))).toEqual([]);
  const lower = Object.fromEntries(SECRETS.map((name) => [name.toLowerCase(), PLAIN]));
  expect(droppedVariables(lower, [])).toEqual(Object.keys(lower).sort());
});

test('ordinary variables are passed on, but for the id of a key', () => {
  expect(Object.keys(ORDINARY).length).toBeGreaterThan(80);
  expect(droppedVariables(ORDINARY, [])).toEqual(['GPG_KEY']);
});

test.for([
  ['a URL with a short password', 'DATABASE_URL', 'postgres://app:pw@db/app'],
  ['the same without a user', 'CACHE', 'redis://:p@cache:6379/0'],
  ['the same with an address as user', 'MAIL', 'smtp://me@example.com:p@mail.example.com'],
  ['a URL with a password as a field', 'JDBC_URL', 'jdbc:sqlserver://db;user=sa;password=x'],
  ['a token behind a name that is kept', 'MY_TOKEN_URL', 'https://example.com/?access_token=x'],
  ['a known form', 'API_KEY_ID', `AKIA${'ABCDEFGHIJ234567'}`],
  ['a known form in a setting of ralph', 'RALPH_PROMPT', `use ghp_${'0aB1'.repeat(9)}`],
  ['tokens that are no number', 'API_TOKENS', 'one,two'],
  ['a number that is no limit', 'MY_TOKEN', '4096'],
  ['a way to an agent of ssh', 'SSH_AUTH_SOCK', '/run/user/1000/agent'],
] as const)('%s is dropped, unless it is asked for', ([, name, value]) => {
  expect(droppedVariables({ [name]: value }, [])).toEqual([name]);
  expect(droppedVariables({ [name]: value }, [name])).toEqual([]);
});

test('what is empty hides nothing', () => {
  expect(droppedVariables({ GITHUB_TOKEN: '', NPM_TOKEN: undefined }, [])).toEqual([]);
});

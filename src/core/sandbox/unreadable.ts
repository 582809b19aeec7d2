/*
 * Places that an agent has no reason to read. A path in these lists need not exist.
 */

/** Keys, and logins of other tools. */
const KEYS_AND_LOGINS = [
  ...['.ssh', '.gnupg', '.pki', '.password-store', '.local/share/keyrings', '.config/age'],
  ...['.config/sops', '.vault-token', '.config/op', '.config/Bitwarden CLI'],
  ...['.aws', '.azure', '.config/gcloud', '.boto', '.s3cfg', '.oci', '.aliyun', '.bluemix'],
  ...['.config/doctl', '.config/hcloud', '.config/scw', '.fly', '.config/netlify', '.vercel'],
  ...['.config/rclone', '.kube', '.config/helm', '.docker', '.colima', '.config/containers'],
  ...['.terraform.d', '.terraformrc', '.pulumi', '.databrickscfg', '.config/heroku'],
  ...['.git-credentials', '.config/git/credentials', '.config/gh', '.config/glab-cli'],
  ...['.config/hub', '.config/tea', '.netrc', '.authinfo', '.authinfo.gpg', '.msmtprc'],
  ...['.npmrc', '.yarnrc.yml', '.config/pnpm/rc', '.bunfig.toml', '.pypirc', '.config/pypoetry'],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials', '.bundle/config'],
  ...['.composer/auth.json', '.config/composer/auth.json', '.m2/settings.xml'],
  ...['.gradle/gradle.properties', '.nuget/NuGet', '.hex/hex.config'],
  ...['.m2/settings-security.xml', '.ivy2/.credentials', '.local/share/uv/credentials'],
  ...['.cabal/config', '.stack/upload', '.pub-cache/credentials.json', '.julia/servers'],
  ...['.luarocks/upload_config.lua', '.nimble/github_api_token', '.swiftpm/configuration'],
  // npm's settings, which lie next to the programs that it installs, and keys that .NET has made.
  ...['.npm-global/etc', '.dotnet/corefx'],
  ...['.pgpass', '.my.cnf', '.mylogin.cnf', '.config/sentry', '.sentryclirc', '.config/stripe'],
  ...['.bitcoin', '.electrum', '.ethereum', '.config/solana', '.config/huggingface'],
  ...['.cache/huggingface/token', '.kaggle', '.config/wandb', '.config/goose', '.config/aider'],
];

const HISTORIES = [
  ...['.bash_history', '.zsh_history', '.zhistory', '.histfile', '.history', '.sh_history'],
  ...['.local/share/fish', '.python_history', '.node_repl_history', '.irb_history', '.lesshst'],
  ...['.psql_history', '.mysql_history', '.sqlite_history', '.rediscli_history', '.viminfo'],
];

const BROWSERS_AND_MAIL = [
  ...['.mozilla', '.config/mozilla', '.thunderbird', '.librewolf', 'snap', '.var/app'],
  ...['.config/google-chrome', '.config/chromium', '.config/BraveSoftware', '.config/vivaldi'],
  ...['.config/microsoft-edge', '.config/opera', '.config/Slack', '.config/discord'],
  ...['Library/Application Support/Google', 'Library/Application Support/Firefox'],
  ...['Library/Application Support/BraveSoftware', 'Library/Cookies', 'Library/Safari'],
];

/** Paths below the home folder that no agent may read. */
export const SECRETS_IN_HOME: readonly string[] = [
  ...KEYS_AND_LOGINS,
  ...HISTORIES,
  ...BROWSERS_AND_MAIL,
];

/** Variables that name another place for a file or folder listed above, or several places with colons between them. */
export const VARIABLES_OF_SECRETS: readonly string[] = [
  ...['KUBECONFIG', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE', 'AZURE_CONFIG_DIR'],
  ...['CLOUDSDK_CONFIG', 'DOCKER_CONFIG', 'GH_CONFIG_DIR', 'GNUPGHOME', 'NETRC', 'PGPASSFILE'],
  ...['NPM_CONFIG_USERCONFIG', 'npm_config_userconfig', 'HISTFILE'],
];

/** Folders of the system with the sockets of its services. */
export const SERVICE_SOCKETS: readonly string[] = ['/run'];

/** Further folders with sockets, which need to be hidden only if the agent may use sockets. */
export const DESKTOP_SOCKETS: readonly string[] = ['/tmp/.X11-unix', '/tmp/.ICE-unix'];

/*
 * Names of variables that hold secrets. A name is read as words: `dbPassword`, `DB_PASSWORD` and `db.password` are
 * the same two.
 */

/** Mark a name wherever they are, also at the end of a longer word: `PGPASSWORD`, `SYSTEM_ACCESSTOKEN`. */
const ANYWHERE =
  /(?:SECRET|TOKEN|PASSWORD|PASSWORT|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|^CRED|APIKEY|WEBHOOK)S?\d*$/;

/** Mark a name as its last word. */
const LAST = /^(?:KEY|PASS|PWD|PW|PAT|AUTH|COOKIE|DSN|JWT|PSK|SALT|MNEMONIC)S?\d*$/;

/** The same, where the words before it are not set apart. */
const LAST_JOINED =
  /(?:ACCESS|ACCOUNT|API|APP|AUTH|CLIENT|DEPLOY|ENCRYPTION|LICENSE|MASTER|PRIVATE|SECRET|SERVICE|SIGNING|SSH|STORAGE)KEYS?\d*$|(?:DB|FTP|MYSQL|PG|REDIS|SMTP|SSH)(?:PASS|PWD)$|CONNECTIONSTRINGS?$/;

/** Mark a name as its last two words. */
const LAST_TWO =
  /^(?:(?:KEY|KEYSTORE|P12|PFX) (?:BASE|BASE64|B64|DATA|PEM|JSON|CONTENTS?)|AUTH CONFIG|CONNECTION STRINGS?|ACCOUNT JSON)$/;

/** Say at the end of a name which one of several it is: `API_KEY_2`, `API_KEY_PROD`. */
const WHICH =
  /^(?:V?\d+|PROD|PRODUCTION|STAGING|STAGE|DEV|DEVELOPMENT|TEST|LIVE|OLD|NEW|BACKUP|DEFAULT|MAIN)$/;

/** As last words they speak about a secret. */
const ABOUT = new Set([
  ...['ID', 'NAME', 'FILE', 'PATH', 'DIR', 'HOST', 'PORT', 'URL'],
  ...['TTL', 'TIMEOUT', 'LIMIT', 'SIZE', 'COUNT', 'TYPE', 'MODE', 'ENABLED'],
]);

/** Keys that are no secret. */
const OPEN_KEYS = new Set(['PUBLIC', 'PUBLISHABLE', 'CACHE', 'PRIMARY']);

/** Folders, what ralph itself sets, and names of settings: git refuses to start without one of those. */
const KEPT = /^(?:(?:OLD)?PWD|RALPH_.*|GIT_CONFIG_KEY_\d+)$/;

/** Logins whose names have none of these words, or end like an id: Bitwarden, 1Password, fastlane, Vault, bundler. */
const OTHERS =
  /^(?:(?:BW|FASTLANE)_SESSION|OP_SESSION_.+|(?:.*_)?(?:VAULT|APPROLE)_SECRET_ID|BUNDLE_.+__(?:COM|DEV|IO|NET|ORG))$/i;

const NUMBER = /^\d{1,9}$/;
const SWITCH = /^(?:0|1|true|false|yes|no|on|off)$/i;

/** Whether the name of a variable says that it holds a secret. Of the value only what rules that out counts. */
export function isSecretName(name: string, value: string): boolean {
  if (OTHERS.test(name)) return true;
  if (KEPT.test(name)) return false;
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (ABOUT.has(last)) return last === 'URL' && words.some((word) => /WEBHOOKS?\d*$/.test(word));
  if (last === 'TOKENS' && words.length > 1 && NUMBER.test(value)) return false;
  return words.some((word) => ANYWHERE.test(word)) || endsLikeSecret(words, value);
}

function endsLikeSecret(words: readonly string[], value: string): boolean {
  const [third = '', before = '', last = ''] = ['', '', '', ...words].slice(-3);
  if (LAST_TWO.test(`${before} ${last}`)) return before !== 'KEY' || !OPEN_KEYS.has(third);
  if (/^KEYS?\d*$/.test(last)) return !OPEN_KEYS.has(before);
  // `CLAUDE_CODE_SKIP_BEDROCK_AUTH=1`
  if (last === 'AUTH' && SWITCH.test(value)) return false;
  return LAST.test(last) || LAST_JOINED.test(last);
}

/** Returns the words of a name in capitals, without those at its end that say which one of several it is. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_')
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return words.slice(0, words.findLastIndex((word) => !WHICH.test(word)) + 1);
}

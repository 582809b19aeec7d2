/*
 * Names of variables that hold secrets. A name is split into words: `dbPassword`, `DB_PASSWORD` and `db.password` all
 * have the same two words.
 */

/** Words that mark a name as secret anywhere, even at the end of a longer word: `PGPASSWORD`, `SYSTEM_ACCESSTOKEN`. */
const ANYWHERE =
  /(?:SECRET|TOKEN|PASSWORD|PASSWORT|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|^CRED|APIKEY|WEBHOOK)S?\d*$/;

/** Words that mark a name as secret if they are its last word. */
const LAST = /^(?:KEY|PASS|PWD|PW|PAT|AUTH|COOKIE|DSN|JWT|PSK|SALT|MNEMONIC)S?\d*$/;

/** Ends of a last word that mark a name as secret: joined words such as `MASTERKEY`. */
const LAST_JOINED =
  /(?:ACCESS|ACCOUNT|API|APP|AUTH|CLIENT|DEPLOY|ENCRYPTION|LICENSE|MASTER|PRIVATE|SECRET|SERVICE|SIGNING|SSH|STORAGE)KEYS?\d*$|(?:DB|FTP|MYSQL|PG|REDIS|SMTP|SSH)(?:PASS|PWD)$|CONNECTIONSTRINGS?$/;

/** Pairs of words that mark a name as secret if they are its last two words. */
const LAST_TWO =
  /^(?:(?:KEY|KEYSTORE|P12|PFX) (?:BASE|BASE64|B64|DATA|PEM|JSON|CONTENTS?)|AUTH CONFIG|CONNECTION STRINGS?|ACCOUNT JSON)$/;

/** Words at the end of a name that only tell several variables apart: `API_KEY_2`, `API_KEY_PROD`. */
const WHICH =
  /^(?:V?\d+|PROD|PRODUCTION|STAGING|STAGE|DEV|DEVELOPMENT|TEST|LIVE|OLD|NEW|BACKUP|DEFAULT|MAIN)$/;

/** Last words that show that the variable is only about a secret, and does not contain it. */
const ABOUT = new Set([
  ...['ID', 'NAME', 'FILE', 'PATH', 'DIR', 'HOST', 'PORT', 'URL'],
  ...['TTL', 'TIMEOUT', 'LIMIT', 'SIZE', 'COUNT', 'TYPE', 'MODE', 'ENABLED'],
]);

/** Words before `KEY` that show that the key is not secret. */
const OPEN_KEYS = new Set(['PUBLIC', 'PUBLISHABLE', 'CACHE', 'PRIMARY']);

/** Names that are never secret: folders, ralph's own variables, and names of git settings, without which git fails. */
const KEPT = /^(?:(?:OLD)?PWD|RALPH_.*|GIT_CONFIG_KEY_\d+)$/;

/** Names of logins that the rules above miss: those of Bitwarden, 1Password, fastlane, Vault and bundler. */
const OTHERS =
  /^(?:(?:BW|FASTLANE)_SESSION|OP_SESSION_.+|(?:.*_)?(?:VAULT|APPROLE)_SECRET_ID|BUNDLE_.+__(?:COM|DEV|IO|NET|ORG))$/i;

const NUMBER = /^\d{1,9}$/;
const SWITCH = /^(?:0|1|true|false|yes|no|on|off)$/i;

/** Whether the name of a variable says that it holds a secret. The value can only rule this out. */
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
  // A switch such as `CLAUDE_CODE_SKIP_BEDROCK_AUTH=1` is not a secret.
  if (last === 'AUTH' && SWITCH.test(value)) return false;
  return LAST.test(last) || LAST_JOINED.test(last);
}

/** Returns the words of a name in capitals, without words at the end that match `WHICH`. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_')
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  return words.slice(0, words.findLastIndex((word) => !WHICH.test(word)) + 1);
}

import { oneLine } from '../../core/text/untrusted-text.ts';
import { systemUser } from '../../effects/files/home-folder.ts';
import { FleetError } from '../../errors.ts';

export interface FleetAddress {
  /** The name of the fleet: `fleet HOST/DATABASE`, without user and password. */
  readonly name: string;
  /** The URL with which `pg` connects. It holds the password, so it must never be shown. */
  readonly connectionString: string;
}

/** The variables of libpq, PostgreSQL's client, that fill the gaps of a URL, each with its parameter in a URL. */
const PARAMETERS = {
  PGHOST: 'host',
  PGPORT: 'port',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  PGSSLMODE: 'sslmode',
  PGSSLROOTCERT: 'sslrootcert',
} as const;

/**
 * The accepted values of `sslmode`, each with the value for `pg`. `pg` itself would treat the three replaced ones as
 * `verify-full`, too, but with a warning.
 */
const TLS_MODES: Readonly<Record<string, string>> = {
  disable: 'disable',
  'no-verify': 'no-verify',
  prefer: 'verify-full',
  require: 'verify-full',
  'verify-ca': 'verify-full',
  'verify-full': 'verify-full',
};

/**
 * Reads the URL of a fleet and fills its gaps from the variables of libpq. Throws a `FleetError` if the URL is invalid;
 * the error does not repeat the URL, which may hold a password.
 */
export function fleetAddress(text: string, env: NodeJS.ProcessEnv): FleetAddress {
  const url = parsed(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new FleetError(
      'A fleet is named by the URL of its database, such as postgres://USER@HOST/DATABASE; what was given is not one.',
    );
  }
  const said = {
    host: plain(url.hostname) === NO_HOST ? '' : plain(url.hostname),
    port: url.port,
    user: plain(url.username),
    password: plain(url.password),
    sslmode: '',
    sslrootcert: '',
  };
  const { searchParams } = url;
  for (const [variable, parameter] of Object.entries(PARAMETERS)) {
    const value = searchParams.get(parameter) || said[parameter as keyof typeof said];
    const filled = value || env[variable];
    if (filled) searchParams.set(parameter, filled);
  }
  // Under cron and in containers USER may be missing, so the system is asked next.
  const user = searchParams.get('user') || env.USER || systemUser() || '';
  if (user !== '') searchParams.set('user', user);
  checkTls(searchParams);
  const database = plain(url.pathname.slice(1)) || env.PGDATABASE || user;
  const host = searchParams.get('host') ?? 'localhost';
  return {
    name: `fleet ${host}/${database}`,
    // Everything except the database goes into parameters: a URL without a host cannot hold a user or a port.
    connectionString: `postgres:///${encodeURIComponent(database)}?${searchParams.toString().replaceAll('+', '%20')}`,
  };
}

/** Replaces `sslmode` with the value for `pg` unless `uselibpqcompat` is set. Throws a `FleetError` if unknown. */
function checkTls(searchParams: URLSearchParams): void {
  const asked = searchParams.get('sslmode');
  if (asked === null || searchParams.has('uselibpqcompat')) return;
  const mode = TLS_MODES[asked];
  if (mode === undefined) {
    throw new FleetError(
      `sslmode expects verify-full, no-verify or disable; found '${oneLine(asked, 40)}'.`,
    );
  }
  searchParams.set('sslmode', mode);
}

const NO_HOST = 'no-host';

/** Returns null if the text is no URL. libpq allows a user without a host, `URL` does not: a placeholder is put in. */
function parsed(text: string): URL | null {
  const whole = text.replace(/@(?=[/?]|$)/, `@${NO_HOST}`);
  return URL.canParse(whole) ? new URL(whole) : null;
}

function plain(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

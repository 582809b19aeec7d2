import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { FleetAwayError, FleetError } from '../../../src/errors.ts';
import { databaseFailure } from '../../../src/fleet/database/database-failure.ts';
import { bounded } from '../../../src/fleet/database/event-rows.ts';
import { fleetAddress } from '../../../src/fleet/database/fleet-address.ts';
import { jobKey, queueName, readJobKey } from '../../../src/fleet/database/jobs.ts';
import { fleetEvent } from '../../helpers/fleet-tasks.ts';

describe('the address of a fleet', () => {
  const env = { PGHOST: 'db.example', PGPORT: '6000', PGUSER: 'ann', PGDATABASE: 'tasks' };

  test.for([
    ['postgres://sam@host:5433/fleet', {}, 'fleet host/fleet', 'host=host&port=5433&user=sam'],
    ['postgresql://host/fleet', env, 'fleet host/fleet', 'host=host&port=6000&user=ann'],
    ['postgres://', env, 'fleet db.example/tasks', 'host=db.example&port=6000&user=ann'],
    ['postgres:///fleet', { USER: 'sam' }, 'fleet localhost/fleet', 'user=sam'],
    ['postgres://sam@/fleet?host=/run/pg', {}, 'fleet /run/pg/fleet', 'host=%2Frun%2Fpg&user=sam'],
    [
      'postgres://sam@h/f?sslmode=require',
      { PGSSLROOTCERT: '/ca.crt' },
      'fleet h/f',
      'sslmode=verify-full&host=h&user=sam&sslrootcert=%2Fca.crt',
    ],
    [
      'postgres://sam@h/f',
      { PGSSLMODE: 'no-verify' },
      'fleet h/f',
      'host=h&user=sam&sslmode=no-verify',
    ],
    [
      'postgres://sam@h/f?sslmode=require&uselibpqcompat=true',
      {},
      'fleet h/f',
      'sslmode=require&uselibpqcompat=true&host=h&user=sam',
    ],
  ] as const)('%s', ([url, variables, name, parameters]) => {
    const address = fleetAddress(url, variables);
    expect(address.name).toBe(name);
    expect(address.connectionString.split('?')[1] ?? '').toBe(parameters);
  });

  test('has the user of the system where no variable names one, as for cron', () => {
    const { connectionString } = fleetAddress('postgres:///fleet?host=/run/pg', {});
    expect(new URL(connectionString).searchParams.get('user')).toBe(userInfo().username);
  });

  test('refuses an unknown sslmode', () => {
    expect(() => fleetAddress('postgres://h/f?sslmode=verified', {})).toThrow(
      "sslmode expects verify-full, no-verify or disable; found 'verified'.",
    );
  });

  test('never names the password, but passes it on', () => {
    const address = fleetAddress('postgres://sam:p%40ss+w@host/fleet', {});
    expect(address.name).toBe('fleet host/fleet');
    expect(new URL(address.connectionString).searchParams.get('password')).toBe('p@ss+w');
  });

  test.for(['', 'fleet', 'mysql://sam:hidden@host/x', 'postgres://sam:hidden@ho st/x', 'http://h'])(
    'refuses %j without repeating it',
    (url) => {
      const refused = () => fleetAddress(url, {});
      expect(refused).toThrow(FleetError);
      expect(refused).not.toThrow(/hidden/);
    },
  );
});

describe('a failure of the database', () => {
  const coded = (message: string, code: string, rest = {}) =>
    Object.assign(new Error(message), { code, ...rest });

  test.for([
    coded('connect ECONNREFUSED', 'ECONNREFUSED', { syscall: 'connect' }),
    coded('connect ENOENT /run/.s.PGSQL.5432', 'ENOENT', { syscall: 'connect' }),
    coded('', 'ETIMEDOUT', { errors: [] }),
    coded('write EPIPE', 'EPIPE', { syscall: 'write' }),
    coded('getaddrinfo EAI_AGAIN db', 'EAI_AGAIN'),
    Object.assign(new AggregateError([coded('connect ECONNREFUSED ::1:1', 'ECONNREFUSED')]), {
      code: 'ECONNREFUSED',
    }),
    coded('terminating connection', '57P01'),
    coded('too many clients', '53300'),
    coded('max clients reached in session mode', 'XX000'),
    coded('cannot execute UPDATE in a read-only transaction', '25006'),
    new Error('Connection terminated unexpectedly'),
    new Error('Query read timeout'),
    new Error('timeout exceeded when trying to connect'),
  ])('%s: it is away', (error) => {
    expect(databaseFailure('fleet h/d', error)).toBeInstanceOf(FleetAwayError);
  });

  test.for([coded('canceling statement', '57014'), new Error('Query read timeout')])(
    '%s: it is too slow',
    (error) => {
      const failure = databaseFailure('fleet h/d', error);
      expect(failure).toBeInstanceOf(FleetAwayError);
      expect(failure).toMatchObject({
        isSlow: true,
        message: `fleet h/d is too slow (${error.message}).`,
      });
    },
  );

  test.for([
    coded('password authentication failed for user "sam"', '28P01'),
    coded('permission denied for table task', '42501'),
    coded('database "x" does not exist', '3D000'),
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    new Error('The server does not support SSL connections'),
    coded('unsupported startup parameter: statement_timeout', '08P01'),
    coded("ENOENT: no such file or directory, open '/ca.crt'", 'ENOENT', {
      ...{ syscall: 'open', path: '/ca.crt' },
    }),
    coded('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    coded("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'),
  ])('%s: it refuses', (error) => {
    const failure = databaseFailure('fleet h/d', error);
    expect(failure).toBeInstanceOf(FleetError);
    expect(failure).toMatchObject({ exitCode: 1 });
  });

  test('a mistake of ralph stays what it is', () => {
    for (const error of [new TypeError('x is not a function'), coded('syntax error', '42601')]) {
      expect(databaseFailure('fleet h/d', error)).toBe(error);
    }
  });
});

test('an event has room in 8 KB', () => {
  const short = fleetEvent('short');
  expect(JSON.parse(bounded(short))).toEqual(short);
  const long = bounded(fleetEvent('\u{1f600}'.repeat(20_000)));
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(8_192);
  expect(JSON.parse(long)).toMatchObject({ event: 'near_miss', why: 'a test' });
  const many = { ...fleetEvent('x'), list: Array.from({ length: 5_000 }, () => 'word') };
  expect(JSON.parse(bounded(many as never))).toEqual({
    ...{ event: 'near_miss', at: short.at, task_id: 'a' },
  });
});

test('a job is named by its queue, its id and its attempt', () => {
  const name = queueName({ schema: 2, queue: 'gpu-1' });
  expect(name).toBe('ralph-s2-gpu-1');
  const job = { id: '0d5a6a5e-6f0e-4a3e-9a44-0f3f7a6d4b11', retryCount: 3 };
  expect(readJobKey(jobKey(name, job))).toEqual({ name, ...job });
});

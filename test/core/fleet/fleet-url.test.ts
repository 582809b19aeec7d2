import { expect, test } from 'vitest';
import { fleetUrlProblem, hasPassword } from '../../../src/fleet/core/fleet-url.ts';

test.for([
  ['postgres://host/fleet', true],
  ['postgresql://me@host:5432/fleet?sslmode=require', true],
  ['postgresql:///fleet?host=/run/postgresql', true],
  ['postgres://', true],
  ['', false],
  ['host/fleet', false],
  ['mysql://host/fleet', false],
  ['postgres://host/fleet now', false],
] as const)('%j names a database: %s', ([url, isGood]) => {
  expect(fleetUrlProblem(url, '--fleet') === null).toBe(isGood);
});

test('what is refused is not repeated, since it may hold a password', () => {
  expect(fleetUrlProblem('me:hunter2@host', 'RALPH_FLEET')).toBe(
    'RALPH_FLEET expects the URL of a PostgreSQL database, such as postgres://USER@HOST/DATABASE; found something else.',
  );
});

test.for([
  ['postgres://me:secret@host/fleet', true],
  ['postgres://me@host/fleet?password=x', true],
  ['postgres://me@host/fleet?sslmode=require&password=x', true],
  ['postgres://me@host:5432/fleet', false],
  ['postgres://host:5432/fleet@x', false],
  ['postgres://me:@host/fleet', false],
] as const)('%s has a password: %s', ([url, has]) => {
  expect(hasPassword(url)).toBe(has);
});

import { expect, test } from 'vitest';
import { hostOfAddress, isLoopback } from '../../../src/core/sandbox/net-rules.ts';

test.for([
  ['https://gateway.example.com/v1', 'gateway.example.com:443'],
  ['http://127.0.0.1:4000', '127.0.0.1:4000'],
  ['HTTPS://user:pass@host:8443/x', 'host:8443'],
  ['http://[::1]:4000/', '[::1]:4000'],
  ['http://plain', 'plain:80'],
  ['', null],
  ['gateway.example.com', null],
  ['https://', null],
  ['ftp://host', null],
  ['https://a b', null],
] as const)('the host of %j', ([address, host]) => {
  expect(hostOfAddress(address)).toBe(host);
});

test.for([
  ['localhost:4000', true],
  ['127.0.0.1', true],
  ['127.8.9.1:80', true],
  ['[::1]:4000', true],
  ['localhost.example.com', false],
  ['10.0.0.1:80', false],
] as const)('%s is this machine: %s', ([host, expected]) => {
  expect(isLoopback(host)).toBe(expected);
});

import { expect, test } from 'vitest';
import { openVsock } from '../../../src/core/sandbox/open-vsock.ts';

test('vsock is told on WSL, and nowhere else', () => {
  expect(openVsock('5.15.167.4-microsoft-standard-WSL2')).toMatch(
    /^On WSL the sandbox leaves vsock/,
  );
  expect(openVsock('6.1.0-18-amd64')).toBeNull();
});

import { expect, test } from 'vitest';
import { keyFilter } from '../../../src/core/sandbox/key-filter.ts';

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;

/** Runs the filter as the kernel does. */
function answerTo(architecture: number, number: number): number {
  const { buffer } = keyFilter();
  const program = new DataView(buffer);
  let loaded = 0;
  for (let at = 0; at < buffer.byteLength; at += 8) {
    const value = program.getUint32(at + 4, true);
    const jump = (holds: boolean): void => {
      at += 8 * program.getUint8(at + (holds ? 2 : 3));
    };
    switch (program.getUint16(at, true)) {
      case 0x20:
        loaded = value === 0 ? number : architecture;
        break;
      case 0x54:
        loaded = (loaded & value) >>> 0;
        break;
      case 0x15:
        jump(loaded === value);
        break;
      case 0x35:
        jump(loaded >= value);
        break;
      case 0x06:
        return value;
      default:
        throw new Error('an operation that the filter does not use');
    }
  }
  throw new Error('the filter runs off its end');
}

test.for([
  ['x86_64', 0xc000003e, 248],
  ['x32 on x86_64', 0xc000003e, 0x40000000 + 248],
  ['i386', 0x40000003, 286],
  ['aarch64', 0xc00000b7, 217],
  ['arm', 0x40000028, 309],
] as const)('of the calls of %s exactly those to keys are refused', ([, architecture, addKey]) => {
  const numbers = [0, addKey - 1, addKey, addKey + 1, addKey + 2, addKey + 3, 0x3fffffff];
  expect(numbers.map((number) => answerTo(architecture, number))).toEqual([
    ...[ALLOWED, ALLOWED, EPERM, EPERM, EPERM, ALLOWED, ALLOWED],
  ]);
});

test('the calls of an architecture that the filter does not know are let through', () => {
  expect([217, 248, 286, 309].map((number) => answerTo(0xc00000f3, number))).toEqual(
    Array(4).fill(ALLOWED),
  );
});

/*
 * A program for the kernel (seccomp) that refuses the calls by which a process reads and uses the keys of the login
 * session: `add_key`, `request_key` and `keyctl`. Their numbers are consecutive on each architecture. The kernel says
 * with each call by which architecture it is made, since a 64-bit machine takes the calls of 32-bit programs as well.
 *
 *   for each architecture:
 *            load   the architecture of the call
 *            if     it is another one, go to the next
 *            load   the number of the call
 *            and    without the bit of x32, whose calls are otherwise numbered like those of x86_64
 *            if     it is below add_key, allow
 *            if     it is above keyctl, allow; otherwise refuse
 *     allow: return "let it through"
 *    refuse: return "fail with EPERM"
 *   and for any other architecture:
 *            return "let it through"
 */

/** The kernel's number for each architecture (AUDIT_ARCH), and the number of `add_key` on it. */
const ADD_KEY = [
  { architecture: 0xc000003e, addKey: 248 }, // x86_64
  { architecture: 0x40000003, addKey: 286 }, // i386
  { architecture: 0xc00000b7, addKey: 217 }, // aarch64
  { architecture: 0x40000028, addKey: 309 }, // arm
] as const;

/** The architectures on which the filter works, by the names that node gives them. */
const HELD: readonly string[] = ['x64', 'ia32', 'arm64', 'arm'];

const CALLS = 3;
const X32_BIT = 0x40000000;

/** Operations of the kernel's packet filter. */
const LOAD = 0x20;
const AND = 0x54;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

/** Where the kernel's data about a call has the call's number and its architecture. */
const NUMBER = 0;
const ARCHITECTURE = 4;

const LET_THROUGH = 0x7fff0000;
const FAIL_WITH_EPERM = 0x00050001;

/** An operation, how many of the next ones are skipped if its condition is true or false, and its value. */
type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, value: number];

/** Returns the filter in the binary form that the kernel reads. All architectures in `HELD` are little-endian. */
export function keyFilter(): Uint8Array {
  const program: readonly Instruction[] = [
    ...ADD_KEY.flatMap(({ architecture, addKey }): readonly Instruction[] => [
      [LOAD, 0, 0, ARCHITECTURE],
      [IF_EQUAL, 0, 6, architecture],
      [LOAD, 0, 0, NUMBER],
      [AND, 0, 0, ~X32_BIT >>> 0],
      [IF_AT_LEAST, 0, 1, addKey],
      [IF_AT_LEAST, 0, 1, addKey + CALLS],
      [RETURN, 0, 0, LET_THROUGH],
      [RETURN, 0, 0, FAIL_WITH_EPERM],
    ]),
    [RETURN, 0, 0, LET_THROUGH],
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [operation, ifTrue, ifFalse, value]] of program.entries()) {
    const at = index * 8;
    bytes.setUint16(at, operation, true);
    bytes.setUint8(at + 2, ifTrue);
    bytes.setUint8(at + 3, ifFalse);
    bytes.setUint32(at + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Whether the filter works on this architecture, given by node's name for it. */
export function holdsKeys(architecture: string): boolean {
  return HELD.includes(architecture);
}

/** Returns the warning for an architecture on which the filter does not work. */
export function openKeys(architecture: string): string {
  return `On ${architecture} the sandbox does not hide the keys that the kernel keeps for your login (keyctl).`;
}

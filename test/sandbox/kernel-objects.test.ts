import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { inSandbox, outside, sandboxScene } from '../helpers/sandbox-scene.ts';

const IPCMK = '/usr/bin/ipcmk';
const PYTHON = '/usr/bin/python3';
const EPERM = '1';

test.skipIf(!existsSync(IPCMK))(
  'memory, semaphores and messages that programs outside share are not there (needs ipcmk)',
  async () => {
    const scene = await sandboxScene();
    const made = await outside(scene, `${IPCMK} -M 64; ${IPCMK} -S 1; ${IPCMK} -Q`);
    const [memory, semaphores, messages] = [...made.matchAll(/: (\d+)/g)].map(([, id]) => id);
    onTestFinished(async () => {
      await outside(scene, `ipcrm -m ${memory} -s ${semaphores} -q ${messages}`);
    });
    const look = `perl -e 'print shmread(${memory}, my $text, 0, 1) ? "seen" : "nothing"'`;
    expect(await outside(scene, look)).toBe('seen');
    const { ran } = await inSandbox(scene, {
      scripts: [look, 'ipcs'].map((script) => ({ script, as: 'agent' })),
    });
    expect(ran[0]?.stdout).toBe('nothing');
    expect(ran[1]?.stdout).toContain('Shared Memory');
    expect(ran[1]?.stdout).not.toMatch(/^0x/m);
  },
);

/** The first lines of a Python program that prints the error of a call, 0 for none. */
const BEGIN = `import ctypes, mmap, platform
libc = ctypes.CDLL(None, use_errno=True)
first = 217 if platform.machine() == 'aarch64' else 248
user, process = -4, -2
def call(number, *rest):
  print(ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *rest) == -1 else 0)
`;

/** A 32-bit call by a 64-bit program: `int 0x80` with keyctl(KEYCTL_GET_KEYRING_ID, user). */
const OF_32_BITS = `page = mmap.mmap(-1, 4096, prot=7)
page.write(b'\\x53\\xb8\\x20\\x01\\0\\0\\x31\\xdb\\xb9\\xfc\\xff\\xff\\xff\\x31\\xd2\\xcd\\x80\\x5b\\xc3')
print(max(0, -ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()))`;

const X86_64 = ['x64'];
const ANY = ['x64', 'arm64'];

test.for([
  ['add_key', ANY, "call(first, b'user', b'ralph-test', b'SECRET', ctypes.c_size_t(6), process)"],
  ['request_key', ANY, "call(first + 1, b'user', b'ralph-test', None, 0)"],
  ['keyctl', ANY, 'call(first + 2, 0, user, 0)'],
  ['keyctl with 32 bits', X86_64, OF_32_BITS],
  ['keyctl of x32', X86_64, 'call(0x40000000 + first + 2, 0, user, 0)'],
] as const)('the keys of the login session are out of reach: %s', async ([, on, code], context) => {
  if (!on.includes(process.arch)) return context.skip(`not on ${process.arch}`);
  const scene = await sandboxScene();
  const script = `${PYTHON} - <<'EOF'\n${BEGIN}${code}\nEOF`;
  const bare = await outside(scene, script).catch(() => '');
  if (!/^\d+\n$/.test(bare))
    return context.skip('there is no Python, or the kernel has no such calls');
  if (bare === `${EPERM}\n`) return context.skip('it is refused on this machine outside, too');
  const { ran } = await inSandbox(scene, {
    asked: { unixSockets: true },
    scripts: (['agent', 'check'] as const).map((as) => ({ script, as })),
  });
  const refused = { code: 0, stdout: `${EPERM}\n`, stderr: '' };
  expect(ran).toMatchObject([refused, refused]);
});

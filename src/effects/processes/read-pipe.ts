import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Reads what a child process writes to one of its pipes. */
export interface PipeReader {
  /** Resolves when the pipe has ended or was destroyed. Never rejects. */
  readonly closed: Promise<void>;
  destroy(): void;
}

/** The least space for a single read. */
const READ_BYTES = 64 * 1024;
/** Size of the first block: enough for an agent with little output. */
const FIRST_BLOCK_BYTES = 2 * READ_BYTES;
/** Size of later blocks. Two alternate, so the last chunk stays intact during the next read. */
const BLOCK_BYTES = 8 * READ_BYTES;

/*
 * Node gives each read of a child's pipe 64 KB of new memory and frees it at the next garbage
 * collection. A fast agent fills it earlier: 400 MB of output take 82 MB of memory instead of 68. A
 * new socket can be told to read into the same memory again and again; the pipes of a child process
 * cannot. So such a socket takes over the pipe's handle:
 *
 *   child ──► handle ──► child.stdout        in plain node
 *                └─────► socket with onread  here
 *
 * Reads are consecutive in memory, so a line that takes several reads is contiguous.
 */
/**
 * Calls `onChunk` with the bytes of a child's pipe. They stay valid until a chunk comes that does not
 * follow them directly in memory. Nothing is read during a call, so a slow call slows the child
 * down. Call `readPipe` right after the start of the child.
 */
export function readPipe(pipe: Readable, onChunk: (chunk: Buffer) => void): PipeReader {
  const socket = takeOver(pipe, onChunk) ?? pipe.on('data', onChunk);
  // An error counts as the end of the pipe; the child's exit code says more.
  socket.on('error', () => {});
  return {
    closed: new Promise((resolve) => {
      socket.once('close', () => resolve());
    }),
    destroy: () => socket.destroy(),
  };
}

/** Returns null if this Node has other handles than versions 10 to 24, or has begun to read. */
function takeOver(pipe: Readable, onChunk: (chunk: Buffer) => void): Socket | null {
  const handle: unknown = Reflect.get(pipe, '_handle');
  if (typeof handle !== 'object' || handle === null) return null;
  if (!('useUserBuffer' in handle) || pipe.readableLength > 0) return null;
  let block: Buffer = Buffer.allocUnsafeSlow(FIRST_BLOCK_BYTES);
  let spare: Buffer | null = null;
  let used = 0;
  const options = {
    handle,
    readable: true,
    writable: false,
    onread: {
      buffer() {
        if (block.length - used < READ_BYTES) {
          const next = spare ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
          spare = block.length === BLOCK_BYTES ? block : null;
          block = next;
          used = 0;
        }
        return block.subarray(used);
      },
      callback(length: number) {
        used += length;
        onChunk(block.subarray(used - length, used));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  // The original pipe is closed; the handle, which the socket needs, stays open.
  Reflect.set(pipe, '_handle', null);
  pipe.destroy();
  return socket.resume();
}

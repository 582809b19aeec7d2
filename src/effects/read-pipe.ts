import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Reads what a child process writes to one of its pipes. */
export interface PipeReader {
  /** The pipe has ended, or was let go of. Never rejects. */
  readonly closed: Promise<void>;
  /** Reads no more. */
  destroy(): void;
}

/** So much room a read gets at least. */
const READ_BYTES = 64 * 1024;
/** Enough for an agent that says little. */
const FIRST_BLOCK_BYTES = 2 * READ_BYTES;
/** For one that says more, two take turns: what was read last is there while the next is read. */
const BLOCK_BYTES = 8 * READ_BYTES;

/*
 * Node gives each read of a child's pipe fresh memory of 64 KB, and frees it when it next tidies up:
 * a fast agent is 35 MB ahead of that. A socket that is opened for it can be told to read into the
 * same memory again and again. The pipes of a child process cannot, so that the handle below such a
 * pipe is given to a socket that was told so.
 *
 *   child ──► handle ──► child.stdout        as node has it
 *                └─────► socket with onread  as it is here
 *
 * One read follows the other in memory, so that a line of several reads lies there in one piece.
 */
/**
 * Hands over the bytes of a child's pipe as they come. They stay as they are until bytes come that do
 * not begin in memory where they end. While a call runs nothing is read, which in the end holds up the
 * child. To be called right after the start.
 */
export function readPipe(pipe: Readable, onChunk: (chunk: Buffer) => void): PipeReader {
  const socket = takeOver(pipe, onChunk) ?? pipe.on('data', onChunk);
  // That it broke is as good as its end: what the child itself ends with tells more.
  socket.on('error', () => {});
  return {
    closed: new Promise((resolve) => {
      socket.once('close', () => resolve());
    }),
    destroy: () => socket.destroy(),
  };
}

/** Null where this node does not keep its handles as it did from 10 to 24, or has begun to read. */
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
  // The pipe as node has it is closed without what is below it.
  Reflect.set(pipe, '_handle', null);
  pipe.destroy();
  return socket.resume();
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { realPath } from '../files/real-path.ts';
import { type Key, type NoKey, readKey } from './key.ts';

/*
 * A task is trusted only if ralph wrote its files for this user. Every JSON file that must be trusted later
 * ends with a checksum (HMAC-SHA-256) under this user's key as its last member:
 *
 *   { "schema_version": 1, …, "sum": "9f2c…" }
 *     └──────── summed ───────┘
 *
 * The checksum also covers the state folder, so that a task copied elsewhere is not trusted there,
 * and what the text is (a state, or the settings of this run of this task), so that no file can
 * replace another.
 */

/** Seals texts of one state folder with a keyed checksum, and recognises what was sealed there with the same key. */
export interface Seal {
  /** Why nothing can be sealed; null if sealing works. */
  readonly problem: string | null;
  /** Returns the keyed checksum of a text, in hex; null without a key. */
  sumOf(text: string, what: string): string | null;
  /** Adds the checksum to a JSON object; returns it unchanged without a key. */
  close(json: string, what: string): string;
  /** Whether a JSON text carries the right checksum. */
  isClosed(json: string, what: string): boolean;
}

type SealedKind =
  | 'settings'
  | 'memory'
  | 'baseline'
  | 'git-setup'
  | 'deciders'
  | 'snapshots'
  | 'proof';

export const STATE = 'state';

/** Returns the `what` that the checksum of a file beside the state covers: the file's kind, and the run of the task. */
export function fileOf(
  kind: SealedKind,
  task: { readonly task_id: string; readonly started_at: string },
): string {
  return `${kind} of ${task.task_id} since ${task.started_at}`;
}

/** A state folder, and the key with which its files are sealed. */
export interface SealedPlace {
  readonly stateDir: string;
  /** The key the user named, as an absolute path; null for the user's own. */
  readonly keyFile: string | null;
}

/** Returns the seal of a state folder. With `create`, a missing key of the user's own is created. Never throws. */
export function sealAt({ stateDir, keyFile }: SealedPlace, create = false): Seal {
  return sealWith(readKey(keyFile, process.env, { create }), stateDir);
}

/** Creates a seal. With a shared key, the checksum covers no path: machines may see a vault under different paths. */
export function sealWith(key: Key | NoKey, stateDir: string): Seal {
  if ('problem' in key) return { ...NO_SEAL, problem: key.problem };
  const place = key.isShared ? '' : realPath(stateDir);
  const sumOf = (text: string, what: string): string =>
    createHmac('sha256', key.bytes).update(`ralph\0${place}\0${what}\0`).update(text).digest('hex');
  return {
    problem: null,
    sumOf,
    close(json, what) {
      const body = json.slice(0, json.lastIndexOf('}')).trimEnd();
      const sum = sumOf(body, what);
      return json.startsWith('{\n')
        ? `${body},\n  "sum": "${sum}"\n}\n`
        : `${body},"sum":"${sum}"}\n`;
    },
    isClosed(json, what) {
      const at = json.lastIndexOf('"sum"');
      const [, sum] = at === -1 ? [] : (SUM.exec(json.slice(at)) ?? []);
      const before = json.slice(0, Math.max(0, at)).trimEnd();
      if (sum === undefined || !before.endsWith(',')) return false;
      return timingSafeEqual(Buffer.from(sum), Buffer.from(sumOf(before.slice(0, -1), what)));
    },
  };
}

/** The seal without a key: it seals no file, and accepts no file as sealed. */
const NO_SEAL: Seal = {
  problem: null,
  sumOf: () => null,
  close: (json) => json,
  isClosed: () => false,
};

/** Spaces may follow: a shorter text that overwrites a longer one is padded with them. */
const SUM = /^"sum": ?"([0-9a-f]{64})"\s*\}\s*$/;

import { createHmac, timingSafeEqual } from 'node:crypto';
import { realPath } from '../real-path.ts';
import { type Key, type NoKey, readKey } from './key.ts';

/*
 * A task is believed only if this user's ralph wrote it. Every JSON file that is believed later ends
 * with a keyed sum (HMAC-SHA-256) as its last member:
 *
 *   { "schema_version": 1, …, "sum": "9f2c…" }
 *     └──────── summed ───────┘
 *
 * What is summed with the text: the folder of the states, so that a task that was copied elsewhere
 * is no task of that place, and what the text is (a state, the settings of this run of that task),
 * so that no file can stand in for another.
 */

/** Tells what this user's ralph has written in one state folder from all else. */
export interface Seal {
  /** Why nothing can be sealed; null where all is well. */
  readonly problem: string | null;
  /** The keyed sum of a text, in hex; null without a key. */
  sumOf(text: string, what: string): string | null;
  /** The JSON text of an object with its sum in it; as it was without a key. */
  close(json: string, what: string): string;
  /** Whether a JSON text bears the sum that belongs to it. */
  isClosed(json: string, what: string): boolean;
}

/** What a sealed text is; `state` for the state file. */
type SealedKind = 'settings' | 'memory' | 'baseline';

export const STATE = 'state';

/** Names one of the files beside the state: they belong to one run of one task. */
export function fileOf(
  kind: SealedKind,
  task: { readonly task_id: string; readonly started_at: string },
): string {
  return `${kind} of ${task.task_id} since ${task.started_at}`;
}

export interface SealRequest {
  readonly stateDir: string;
  /** The key that the user named, absolute; null for the user's own. */
  readonly keyFile: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the user's own key is made where there is none yet. */
  readonly create?: boolean;
}

/** The seal of a state folder. Never throws. */
export function openSeal({ stateDir, keyFile, env, create = false }: SealRequest): Seal {
  return sealWith(readKey(keyFile, env, { create }), stateDir);
}

/** A seal of this key. Machines that share a vault may each see it under another path. */
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

/** Where there is no key nothing is sealed, and nothing is known for one's own. */
const NO_SEAL: Seal = {
  problem: null,
  sumOf: () => null,
  close: (json) => json,
  isClosed: () => false,
};

/** Blanks may follow: a shorter text that is written over a longer one is filled with them. */
const SUM = /^"sum": ?"([0-9a-f]{64})"\s*\}\s*$/;

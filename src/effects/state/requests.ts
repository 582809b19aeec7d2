import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { type ProgressReport, progressReport } from '../../core/completion/progress-report.ts';
import { HINT_MAX_BYTES, type Hint } from '../../core/prompt/hints.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { CommandError, messageOf } from '../../errors.ts';
import type { Requests } from '../../loop/ports.ts';
import { MB, readFirstBytes } from '../files/bounded-read.ts';
import { headWithin } from '../files/bounded-text.ts';
import { fileNamesIn } from '../files/folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { numberAt, parseObject, stringAt } from '../files/json-fields.ts';
import { leadsOut } from '../files/real-path.ts';
import { makePrivateFolder, tryToRemove, writeFileAtomic } from '../files/write-file.ts';
import type { Seal } from '../trust/seal.ts';

/*
 * Requests of other processes to a task's driver, the process that runs the task. Each request is a file in the task's
 * folder, so the sender need not know the driver's pid, which another process may have by now.
 *
 *   requests/stop-<stamp>-<uuid>.json      removed as soon as it is noticed
 *   requests/pause-<stamp>-<uuid>.json     likewise
 *   requests/tell-<stamp>-<uuid>.md        removed once the state that contains its text is saved
 *   requests/progress-<stamp>-<uuid>.json  likewise
 */

const FOLDER = 'requests';

/** How often the folder is looked at. */
const POLL_MS = 250;

/** The most files and characters that one poll reads; the others wait for the next poll. */
const FILES_AT_ONCE = 1_000;
const CHARS_AT_ONCE = MB;

/** A request, as a command writes it. */
type TaskRequest =
  | { readonly kind: 'stop' }
  | { readonly kind: 'pause' }
  | { readonly kind: 'tell'; readonly text: string }
  | { readonly kind: 'progress'; readonly report: ProgressReport };

type Kind = TaskRequest['kind'];

/** The requests to one driver, noticed as they arrive. */
export interface RequestBox extends Requests {
  /** Aborts when a request asks the loop to end its running iteration and stop. */
  readonly stop: AbortSignal;
  /** Stops watching. */
  close(): void;
}

/**
 * Watches for requests to a task. Existing requests take effect at once, so drop stale ones first.
 * Never throws, and never keeps the process alive.
 */
export function watchRequests(
  taskFolder: string,
  seal: Seal,
  { pollMs = POLL_MS } = {},
): RequestBox {
  const folder = path.join(taskFolder, FOLDER);
  const stop = new AbortController();
  const pause = new AbortController();
  const look = (): void => {
    if (take(folder, 'stop')) stop.abort();
    if (take(folder, 'pause')) pause.abort();
  };

  const timer = setInterval(look, pollMs).unref();
  look();
  return {
    ...keptBox(folder, seal),
    stop: stop.signal,
    pause: pause.signal,
    close: () => clearInterval(timer),
  };
}

/** Reads only the beginning of a long file, because an agent can create files here, too. */
function tryRead(file: string): string | null {
  return ifPossible(() => readFirstBytes(file, HINT_MAX_BYTES + SIGNATURE_BYTES).toString());
}

/** Removes the requests of this kind. Returns whether there were any. */
function take(folder: string, kind: Kind): boolean {
  const names = namesOf(folder, kind).slice(0, FILES_AT_ONCE);
  for (const name of names) {
    // If a file cannot be removed, the request is only repeated, which is harmless.
    tryToRemove(path.join(folder, name));
  }
  return names.length > 0;
}

/** Reads hints (the texts of `tell`) and progress reports; removes their files once a saved state contains them. */
function keptBox(folder: string, seal: Seal): Pick<Requests, 'hints' | 'progress' | 'settled'> {
  /** Names of files that were read. If a file cannot be removed, its name stays here, so it is read only once. */
  const seen = new Set<string>();
  let unsettled: readonly string[] = [];
  const filesOf = (kind: Kind): readonly { name: string; text: string }[] => {
    const files: { name: string; text: string }[] = [];
    const names = namesOf(folder, kind).filter((name) => !seen.has(name));
    let length = 0;
    for (const name of names.slice(0, FILES_AT_ONCE)) {
      if (length > CHARS_AT_ONCE) break;
      const text = tryRead(path.join(folder, name));
      // The file could not be read; the next call tries again.
      if (text === null) continue;
      seen.add(name);
      unsettled = [...unsettled, name];
      files.push({ name, text });
      length += text.length;
    }
    return files;
  };
  return {
    hints: async () =>
      filesOf('tell')
        .map(({ name, text }) => readHint(text, folder, name, seal))
        .filter(({ text }) => text.trim() !== ''),
    progress: async () => filesOf('progress').flatMap(({ text }) => readReport(text) ?? []),
    async settled() {
      const names = unsettled;
      unsettled = [];
      for (const name of names) {
        if (tryToRemove(path.join(folder, name))) seen.delete(name);
      }
    },
  };
}

/** Returns the newest report that no driver has saved yet, or null if there is none. Never throws. */
export function pendingProgress(taskFolder: string): ProgressReport | null {
  const folder = path.join(taskFolder, FOLDER);
  const name = namesOf(folder, 'progress').at(-1);
  // The text is null if a driver has removed the file meanwhile.
  const text = name === undefined ? null : tryRead(path.join(folder, name));
  return text === null ? null : readReport(text);
}

function readReport(text: string): ProgressReport | null {
  const report = parseObject(text);
  if (report === null) return null;
  const [done, total] = [numberAt(report, 'done'), numberAt(report, 'total')];
  if (done === null || total === null) return null;
  return progressReport(done, total, stringAt(report, 'step') ?? '');
}

/** Matches the signature at the end of a hint. Forging it takes the user's key, not only write access to files. */
const SIGNATURE = /\n<!-- ralph: ([0-9a-f]{64}) -->\n$/;

const SIGNATURE_BYTES = 100;

/** Returns the name that a hint's signature covers: the task and the file, so that a copy elsewhere is not valid. */
function nameOfHint(folder: string, name: string): string {
  return `hint ${path.basename(path.dirname(folder))}/${name}`;
}

function signedHint(text: string, folder: string, name: string, seal: Seal | null): string {
  const sum = seal?.sumOf(text, nameOfHint(folder, name)) ?? null;
  return sum === null ? text : `${text}\n<!-- ralph: ${sum} -->\n`;
}

function readHint(content: string, folder: string, name: string, seal: Seal): Hint {
  const [, sum] = SIGNATURE.exec(content) ?? [];
  const text = headWithin(content.replace(SIGNATURE, ''), HINT_MAX_BYTES);
  const isProven = sum !== undefined && sum === seal.sumOf(text, nameOfHint(folder, name));
  return { text, isProven };
}

/**
 * Writes a request to a task's driver; a hint can wait for the task's next driver. `at` is an ISO instant. `seal` signs
 * a hint, which proves that it comes from this user. Rejects with `CommandError`.
 */
export async function leaveRequest(
  taskFolder: string,
  request: TaskRequest,
  at: string,
  seal: Seal | null = null,
): Promise<void> {
  const folder = path.join(taskFolder, FOLDER);
  const { kind } = request;
  const name = `${kind}-${at.replace(/\D/g, '')}-${randomUUID()}.${endingOf(kind)}`;
  const report = kind === 'progress' ? request.report : {};
  const content =
    kind === 'tell'
      ? signedHint(request.text, folder, name, seal)
      : `${safeJson({ kind, at, ...report })}\n`;
  try {
    makePrivateFolder(folder);
    if (leadsOut(folder, path.dirname(taskFolder))) throw new Error('it is a link that leads out');
    await writeFileAtomic(path.join(folder, name), content);
  } catch (error) {
    throw new CommandError(
      `The request could not be written to ${folder} (${messageOf(error)}); nothing was asked.`,
    );
  }
}

/**
 * Removes requests to stop or pause that an earlier driver died without reading; hints stay. Call it
 * before the state names the new driver, because requests from then on are meant for it. Never throws.
 */
export function dropStaleRequests(taskFolder: string): void {
  const folder = path.join(taskFolder, FOLDER);
  take(folder, 'stop');
  take(folder, 'pause');
}

function endingOf(kind: Kind): string {
  return kind === 'tell' ? 'md' : 'json';
}

/** Returns the names of the requests of one kind, oldest first. */
function namesOf(folder: string, kind: Kind): readonly string[] {
  return fileNamesIn(folder).filter(
    (name) => NAME.exec(name)?.[1] === kind && name.endsWith(`.${endingOf(kind)}`),
  );
}

const NAME =
  /^(stop|pause|tell|progress)-\d{17}-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.(?:json|md)$/;

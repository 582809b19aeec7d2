import path from 'node:path';
import type { CheckAtStart } from '../../core/completion/known-failures.ts';
import { knownFailuresOf } from '../../core/completion/repeated-proof.ts';
import { factsOfStatement, type ProofStatement } from '../../core/proof/statement.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { CommandError } from '../../errors.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { errorCode, removeFile, writeFileAtomic } from '../files/write-file.ts';
import { fileOf, type Seal } from '../trust/seal.ts';
import { readStatement } from './read-statement.ts';

const PROOF = 'proof.json';
const MAX_BYTES = 16 * MB;

type Run = Pick<TaskState, 'task_id' | 'started_at'>;

/** Writes the proof of a task into its folder, atomically. Rejects with the system's error. */
export async function writeProof(
  folder: string,
  statement: ProofStatement,
  { seal, run }: { readonly seal: Seal; readonly run: Run },
): Promise<void> {
  const text = seal.close(`${safeJson(statement, 2)}\n`, fileOf('proof', run));
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Error('it would be too large to be read');
  await writeFileAtomic(path.join(folder, PROOF), text);
}

/** Removes the proof of a task that is no longer completed. Throws the system's error. */
export function removeProof(folder: string): void {
  removeFile(path.join(folder, PROOF));
}

/** A proof as it was read. */
export interface ReadProof {
  readonly statement: ProofStatement;
  /** The whole file, even fields that ralph does not know, safe to be shown. */
  readonly json: string;
  /** Whether its seal, a checksum with the user's key, shows that ralph wrote it for this start of the task. */
  readonly isOwn: boolean;
}

/** Reads the proof of a task; null if there is none. Throws a `CommandError`. */
export function readProof(folder: string, seal: Seal, run: Run): ReadProof | null {
  const file = path.join(folder, PROOF);
  try {
    const text = textOf(file);
    return { ...readText(text, file), isOwn: seal.isClosed(text, fileOf('proof', run)) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Returns the checks of a completed task that failed at its start; null without a proof of this user. Never throws. */
export function provenFailures(
  folder: string,
  seal: Seal,
  run: Run,
): readonly CheckAtStart[] | null {
  const proof = ifPossible(() => readProof(folder, seal, run));
  return proof?.isOwn ? knownFailuresOf(factsOfStatement(proof.statement)) : null;
}

/** Reads a proof from any source. Throws a `CommandError`, or the system's error. */
export function readProofFile(file: string): ReadProof {
  return { ...readText(textOf(file), file), isOwn: false };
}

function textOf(file: string): string {
  return readTextWithin(file, MAX_BYTES);
}

function readText(text: string, file: string): Omit<ReadProof, 'isOwn'> {
  const statement = readStatement(text);
  if (statement === null) {
    throw new CommandError(`${file} is no proof of ralph's, or is damaged.`);
  }
  return { statement, json: safeJson(JSON.parse(text), 2) };
}

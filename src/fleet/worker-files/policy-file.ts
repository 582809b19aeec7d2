import { UsageError } from '../../errors.ts';
import { readWorkerPolicy, type WorkerPolicy } from '../core/worker-policy.ts';
import { readOwnFile } from './own-file.ts';

/**
 * Reads the policy of a worker. Throws a `UsageError` if anyone except this user or root could have written the file,
 * or if it has unknown keys or bad values, with all of them.
 */
export function readPolicyFile(file: string, where = '--policy'): WorkerPolicy {
  const read = readWorkerPolicy(readOwnFile({ file, where, isSecret: false }));
  if ('policy' in read) return read.policy;
  throw new UsageError(read.problems.map((problem) => `${file}: ${problem}`));
}

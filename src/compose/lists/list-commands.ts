import { randomUUID } from 'node:crypto';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB } from '../../effects/files/bounded-read.ts';
import { treeAround } from '../../effects/files/find-git-above.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { forAgent } from '../../effects/processes/find-program.ts';
import { outerPath } from '../../effects/processes/outer-path.ts';
import { MARKER_NAME } from '../../effects/processes/process-table.ts';
import { runShellCommand } from '../../effects/processes/shell-command.ts';
import type { StopRequests } from '../../loop/ports.ts';

/** How a command of a list ended. */
export type CommandEnd =
  /** `output`: its standard output. */
  | { readonly kind: 'passed'; readonly output: string }
  /** `why`: a clause with its last line. `isBroken`: it said nothing about an item, since it could not run. */
  | { readonly kind: 'failed'; readonly why: string; readonly isBroken: boolean }
  /** A person has stopped ralph meanwhile. */
  | { readonly kind: 'stopped' };

/** What a command of a list is given beside the user's environment. */
interface Given {
  readonly variables?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a command of a list as the user, in the work folder. Never rejects. */
export type RunListCommand = (
  command: string,
  stops: StopRequests,
  given?: Given,
) => Promise<CommandEnd>;

/** A tracker on the network may take its time for many pages. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 16 * MB;
/** By these exit codes a shell says that it could not start a program. */
const NOT_STARTED = [126, 127];

/**
 * Returns what runs the commands of a list; `ofList` are variables for each of them. Programs of the work tree are not found by their names: an agent could put
 * its own in the place of `gh`.
 */
export function listCommands(
  plan: RunPlan,
  ofList: Readonly<Record<string, string>>,
): RunListCommand {
  const runId = randomUUID();
  const trees = [plan.cwd, plan.startDir].flatMap((folder) => treeAround(folder) ?? []);
  const env = { ...forAgent(plan.env), ...ofList, PATH: outerPath(plan.gitEnv, trees) };
  return async (command, stops, { variables = {}, input = '' } = {}) => {
    const out = gather();
    const err = gather();
    const { exitCode, timedOut, output } = await runShellCommand(command, input, {
      ...{ cwd: plan.cwd, stops, timeoutMs: TIMEOUT_MS },
      env: { ...env, ...variables, [MARKER_NAME]: runId },
      onOutput: (chunk, _, stream) => (stream === 'stdout' ? out : err).add(chunk),
    });
    if (exitCode === 0 && !out.isCut()) return { kind: 'passed', output: out.text() };
    if (exitCode === null && stops.signal.aborted) return { kind: 'stopped' };
    const how = out.isCut()
      ? 'printed more than 16 MB'
      : timedOut
        ? 'took more than 10 minutes'
        : exitCode === null
          ? 'did not come to its end'
          : `exited with ${exitCode}`;
    const said = lastLine(err.text()) || lastLine(output);
    const words = `${oneLine(command, 120)} ${how}${said === '' ? '' : `: ${said}`}`;
    const isBroken = exitCode === null || NOT_STARTED.includes(exitCode);
    return { kind: 'failed', why: oneLine(maskSecrets(words), 700), isBroken };
  };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}

/** Keeps what a command prints, up to a limit. */
function gather() {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    },
    isCut: () => bytes > MAX_OUTPUT_BYTES,
    text: () => Buffer.concat(chunks).toString(),
  };
}

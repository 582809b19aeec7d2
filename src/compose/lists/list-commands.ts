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
  /** `output` is the command's standard output. */
  | { readonly kind: 'passed'; readonly output: string }
  /** `why` is a clause with the last line of output. `isBroken`: the command could not run, so no item has failed. */
  | { readonly kind: 'failed'; readonly why: string; readonly isBroken: boolean }
  /** A person stopped ralph while the command ran. */
  | { readonly kind: 'stopped' };

/** What a command of a list gets in addition to the user's environment. */
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

/** The limit for a command. A tracker on the network may need time for many pages. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 16 * MB;
/** With these exit codes, a shell reports that it could not start a program. */
const NOT_STARTED = [126, 127];

/** Returns what runs a list's commands. PATH leads into no work tree, where an agent could write its own `gh`. */
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

/** Collects what a command prints, up to a limit. */
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

import type { AgentSetting } from '../core/agent/agent.ts';
import type { AgentName } from '../core/agent/agents/agents.ts';
import type { LogItem } from '../core/agent/log-item.ts';
import { textFor } from '../core/settings/agent-texts.ts';
import { permissionsOf } from '../core/settings/edit-permissions.ts';
import type { Settings } from '../core/settings/settings.ts';
import { hasSeveralAgents } from '../core/task/policy.ts';
import { type AgentKind, type AgentOptions, locate } from '../effects/agents/agent.ts';
import {
  type ChildOptions,
  createAgentRunner,
  type GuardedRunner,
  type RunnerOptions,
} from '../effects/agents/agent-runner.ts';
import { codexAgent } from '../effects/agents/codex.ts';
import { commandAgent } from '../effects/agents/command-agent.ts';
import { copilotAgent } from '../effects/agents/copilot.ts';
import { geminiAgent } from '../effects/agents/gemini.ts';
import { GUARD_PROGRAM } from '../effects/agents/kept-guard.ts';
import { opencodeAgent } from '../effects/agents/opencode.ts';
import { qwenAgent } from '../effects/agents/qwen.ts';
import { createReadableEvents } from '../effects/agents/readable-events.ts';
import { claudeAgent } from '../effects/claude/claude-agent.ts';
import { createReadableLog, type ReadableLog } from '../effects/claude/readable-log.ts';
import type { LogPart } from '../effects/logs/agent-notes.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import { leftoverLine } from '../report/notices.ts';
import type { AgentFacts } from '../report/screens/doctor.ts';
import type { ClaimedRun } from './held-run.ts';

const KINDS: Readonly<Record<AgentName, (options: AgentOptions) => AgentKind>> = {
  claude: claudeAgent,
  codex: codexAgent,
  gemini: geminiAgent,
  opencode: opencodeAgent,
  qwen: qwenAgent,
  copilot: copilotAgent,
  command: commandAgent,
};

/** The options that all agents of a run share. */
export type AgentsOptions = Omit<AgentOptions, 'settings'> & {
  readonly settings: Pick<Settings, AgentSetting | 'verify' | 'until'>;
};

/** Returns how ralph starts an agent and reads its output. */
export function agentKind(name: AgentName, { settings, ...options }: AgentsOptions): AgentKind {
  const model = textFor(settings.model, name);
  const agentBin = textFor(settings.agentBin, name);
  const permissions = permissionsOf(settings, name);
  return KINDS[name]({ ...options, settings: { ...settings, ...permissions, model, agentBin } });
}

/** Whether a log needs its agent's own reader. The general reader suits `claude`'s log; a command writes text. */
function hasOwnEvents(name: AgentName): boolean {
  return name !== 'claude' && name !== 'command';
}

function readableLog(name: AgentName, options: AgentsOptions): ReadableLog {
  return hasOwnEvents(name) ? createReadableEvents(agentKind(name, options)) : createReadableLog();
}

/** Turns the bytes of a log to which several agents may have written into items. */
export interface PartedLog extends Pick<ReadableLog, 'end'> {
  /** Reads the next bytes, which begin at the position `at` of the log, and returns the items that are now complete. */
  push(chunk: Buffer, at: number): readonly LogItem[];
}

/** Returns the reader for a log of several agents. The bytes before the first part are from the agent `first`. */
export function readableParts(
  partsOf: () => readonly LogPart[],
  first: AgentName,
  options: AgentsOptions,
): PartedLog {
  let part: LogPart = { agent: first, from: 0 };
  let log = readableLog(first, options);
  return {
    push(chunk, at) {
      const items: LogItem[] = [];
      const parts = partsOf();
      for (let done = 0; done < chunk.length; ) {
        const position = at + done;
        const own = parts.findLast(({ from }) => from <= position) ?? part;
        if (own.from !== part.from || own.agent !== part.agent) {
          items.push(...log.end());
          part = own;
          log = readableLog(own.agent, options);
        }
        const next = parts.find(({ from }) => from > position)?.from ?? Number.POSITIVE_INFINITY;
        const piece = chunk.subarray(done, done + Math.min(chunk.length - done, next - position));
        items.push(...log.push(piece));
        done += piece.length;
      }
      return items;
    },
    end: () => log.end(),
  };
}

const FIRST_TURN = { resumeSession: null, budgetUsd: null };

/** Returns the command that would start the agent. `missing` says where ralph looked for a missing program. */
export function locateAgent(
  name: AgentName,
  plan: RunPlan,
): {
  readonly argv: readonly string[];
  readonly missing: string | null;
} {
  const kind = agentKind(name, { ...plan, inSandbox: plan.settings.sandbox === true });
  const first = { ...FIRST_TURN, budgetUsd: plan.policy.maxCostUsd };
  const found = locate(kind, first, plan);
  if ('missing' in found) {
    return { argv: [kind.program, ...kind.args(first)], missing: found.missing };
  }
  return { argv: [found.file, ...found.args], missing: null };
}

/** Returns the paths of the programs of a run's agents; leaves out programs that are missing. */
export function agentPrograms(plan: RunPlan): readonly string[] {
  return plan.policy.agents.flatMap((name) => {
    const { argv, missing } = locateAgent(name, plan);
    return missing === null ? argv.slice(0, 1) : [];
  });
}

/** Returns what `ralph doctor` can find out about an agent without starting it. */
export function examineAgent(
  name: AgentName,
  options: AgentsOptions,
): Pick<AgentFacts, 'program' | 'findings' | 'interferences'> {
  const kind = agentKind(name, options);
  return {
    program:
      kind.program === ''
        ? { missing: '--agent-command is not a valid command' }
        : locate(kind, FIRST_TURN, options),
    findings: kind.examine(),
    interferences: kind.interferences?.() ?? null,
  };
}

/** Creates the runner that starts the agents of a run. */
export function agentRunner(
  run: ClaimedRun,
  kindOf: RunnerOptions['kindOf'],
  child: ChildOptions,
  sandbox: Sandbox | null,
): GuardedRunner {
  const { plan, paths, warn } = run;
  return createAgentRunner({
    kindOf,
    cwd: plan.cwd,
    sandbox,
    ...child,
    notesAgents: hasSeveralAgents(plan.policy) || hasOwnEvents(plan.policy.agent),
    logDir: paths.folder,
    iterationTimeoutMs: plan.policy.iterationTimeoutMs,
    idleTimeoutMs: plan.policy.idleTimeoutMs,
    guardProgram: GUARD_PROGRAM,
    keepBackground: plan.settings.keepBackground,
    logLimitBytes: plan.settings.logLimit,
    onLeftovers: (what, processes) => warn(leftoverLine(what, processes)),
    lease: run.leg?.lease,
    warn,
  });
}

import path from 'node:path';
import type { AgentSetting } from '../../core/agent/agent.ts';
import { AGENTS, type AgentName } from '../../core/agent/agents/agents.ts';
import { VERDICT_WORDS } from '../../core/judge/verdict.ts';
import { type Judge, judgeBin } from '../../core/settings/judge-setting.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { type AgentKind, type AgentOptions, locate } from '../../effects/agents/agent.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';

/** Makes the `AgentKind` of the named agent: how it is started, and how its output is read. */
type KindOf = (
  name: AgentName,
  options: Omit<AgentOptions, 'settings'> & {
    readonly settings: Pick<Settings, AgentSetting | 'verify' | 'until'>;
  },
) => AgentKind;

export interface JudgeKindOptions {
  readonly plan: Pick<RunPlan, 'settings' | 'policy' | 'env' | 'startDir'>;
  readonly judge: Judge;
  readonly kindOf: KindOf;
  readonly cwd: string;
  readonly inSandbox: boolean;
  /** Writes the schema of an answer to a file and returns its path. */
  readonly schemaFile: (schema: string) => string;
}

/** The schema of a judge's answer. Every key is required, because some services demand that. */
const SCHEMA = JSON.stringify(
  object({
    nonce: { type: 'string' },
    criteria: {
      type: 'array',
      items: object({
        id: { type: 'string' },
        verdict: { type: 'string', enum: VERDICT_WORDS },
        evidence: { type: 'string' },
        where: {
          type: 'array',
          items: object({
            file: { type: 'string' },
            line: { type: ['integer', 'null'] },
            missing: { type: ['boolean', 'null'] },
          }),
        },
      }),
    },
  }),
);

function object(properties: Readonly<Record<string, unknown>>) {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Returns how an agent is started as a judge: kept from writing, and without the rights of the working agent. */
export function judgeKind(options: JudgeKindOptions): AgentKind {
  const { plan, judge, kindOf, cwd, inSandbox, schemaFile } = options;
  const { agent, model } = judge;
  const { settings, policy, env, startDir } = plan;
  const { judging } = AGENTS[agent];
  if (judging === null) throw new Error(`nobody has tried ${agent} as a judge`);
  const { schema } = judging;
  const bin = judgeBin(judge, settings.agentBin, policy.agents);
  const kind = kindOf(agent, {
    settings: {
      ...settings,
      agentCommand: settings.judgeCommand,
      agentBin: bin === null ? [] : [`${agent}=${bin}`],
      model: model === null ? [] : [`${agent}=${model}`],
      edit: false,
      permissionMode: null,
      allowedTools: [],
      dangerouslySkipPermissions: false,
    },
    passthrough: [
      ...judging.args,
      ...(schema === null ? [] : [schema.flag, schema.as === 'text' ? SCHEMA : schemaFile(SCHEMA)]),
    ],
    ...{ env, cwd, inSandbox },
  });
  // The judge starts in a checkout of files by the judged agent, so a program named by a path is not looked for there.
  return kind.program.includes('/')
    ? { ...kind, program: path.resolve(startDir, kind.program) }
    : kind;
}

/** Returns why the judge cannot be started, as a sentence without a full stop; null if it can. */
export function missingJudge(
  plan: JudgeKindOptions['plan'],
  judge: Judge,
  kindOf: KindOf,
): string | null {
  const { env, startDir: cwd } = plan;
  const kind = judgeKind({ plan, judge, kindOf, cwd, inSandbox: false, schemaFile: () => '' });
  const found = locate(kind, { resumeSession: null, budgetUsd: null }, { env, cwd });
  return 'missing' in found ? `the judge ${judge.agent} cannot be started: ${found.missing}` : null;
}

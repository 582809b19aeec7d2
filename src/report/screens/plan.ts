import type { SandboxRules } from '../../core/sandbox/rules.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { plural } from '../format.ts';
import { sandboxRuleLines } from './sandbox-rules.ts';

/** What a run would do, as `--dry-run --json` prints it. */
export interface PlanFacts {
  readonly task_id: string;
  /** Why the run would be refused, one sentence each. */
  readonly refusals: readonly string[];
  readonly task_type: string;
  /** The completion rule in words. */
  readonly completion: string;
  /** How many full-length iterations fit into the time limit of the whole task. */
  readonly full_iterations: number;
  readonly max_iterations: number;
  readonly argv: readonly string[];
  /** The other agents of `--agent A,B`, in order. */
  readonly further_agents: readonly {
    readonly agent: string;
    readonly argv: readonly string[];
  }[];
  readonly cwd: string;
  readonly first_prompt: string;
  readonly continuation_prompt: string;
  readonly settings: readonly {
    readonly name: string;
    readonly value: unknown;
    readonly source: string;
  }[];
  /** The files that decide the results of the checks. */
  readonly deciders: readonly string[];
  /** The agent that judges whether the task is done; null if none does. */
  readonly judge: {
    readonly agent: string;
    readonly model: string | null;
    readonly criteria: readonly { readonly id: string; readonly text: string }[];
  } | null;
  /** The signs of repetition or overuse that end an iteration early. */
  readonly supervision: readonly {
    readonly sign: string;
    /** At which count the agent is told; null: it is not told. */
    readonly told_at: number | null;
    /** At which count the iteration is ended; null: never. */
    readonly cut_at: number | null;
    /** The agents of the run that do not report what the sign counts. */
    readonly off_for: readonly string[];
  }[];
  /** The sandbox of the run; null without one. */
  readonly sandbox: {
    /** Null if the rules cannot be known yet. */
    readonly rules: SandboxRules | null;
    /** Why the run would be refused, or why the rules are not known. */
    readonly refusals: readonly string[];
    /** The variables that the sandbox sets. In them, `XXXXXX` stands for characters that are chosen at the start. */
    readonly variables: Readonly<Record<string, string>>;
  } | null;
  readonly writes: readonly { readonly path: string; readonly what: string }[];
  readonly warnings: readonly string[];
}

/** Returns the plan as text: what a person has to know before the start, or everything with `isWhole`. */
export function renderPlan(facts: PlanFacts, isWhole: boolean): string {
  const plan = withoutControlsIn(facts);
  const isRefused = plan.refusals.length > 0;
  const verdict = isRefused ? 'would be refused, with exit code 2' : 'would start';
  const judge = plan.judge === null ? [] : judgeLines(plan.judge);
  const given = plan.settings.filter(({ source }) => source !== 'default');
  return [
    `The task ${plan.task_id} (type ${plan.task_type}) ${verdict}. Nothing was started or written.`,
    section('It would be refused because', plan.refusals),
    section('Warnings', plan.warnings),
    section('Done when', [plan.completion]),
    section(
      'What decides the checks',
      isWhole ? plan.deciders : firstFew(plan.deciders, FEW_SHOWN),
    ),
    section('Who judges a claim, and by what', isWhole ? judge : firstFew(judge, FEW_SHOWN)),
    section('The agent is started with', [commandLine(plan.argv), `in ${plan.cwd}`]),
    ...plan.further_agents.map(({ agent, argv }) =>
      section(`If the agents before it are held, ${agent} is started with`, [commandLine(argv)]),
    ),
    section('Time', [timeLine(plan)]),
    ...(isWhole
      ? [...furtherSections(plan), section('Settings', settingLines(plan))]
      : [
          section('The sandbox', plan.sandbox === null ? [] : ['on', ...plan.sandbox.refusals]),
          section('Settings that are not defaults', settingLines({ settings: given })),
          '--verbose shows the prompts, what would be written, and all settings.',
        ]),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

const FEW_SHOWN = 5;

function firstFew(lines: readonly string[], most: number): readonly string[] {
  const more = lines.length - most;
  return more <= 0 ? lines : [...lines.slice(0, most), `… and ${more} more`];
}

function timeLine({ max_iterations: most, full_iterations: full }: PlanFacts): string {
  return `up to ${plural(most, 'iteration')}${full < most ? `, or ${full} if each takes its full time` : ''}`;
}

function furtherSections(plan: PlanFacts): readonly string[] {
  return [
    section('The first prompt', shortened(plan.first_prompt)),
    section('A continuation prompt', shortened(plan.continuation_prompt)),
    section('What ends an iteration before its time', plan.supervision.map(supervisionLine)),
    section(
      'What would be written',
      plan.writes.map(({ path, what }) => `${path}: ${what}`),
    ),
    section('The sandbox', sandboxLines(plan.sandbox)),
  ];
}

function judgeLines({ agent, model, criteria }: NonNullable<PlanFacts['judge']>) {
  const who = model === null ? agent : `${agent}, with the model ${model}`;
  return [who, ...criteria.map(({ id, text }) => `${id}: ${text}`)];
}

function supervisionLine({
  sign,
  told_at,
  cut_at,
  off_for,
}: PlanFacts['supervision'][number]): string {
  if (cut_at === null) return `${sign}: no limit`;
  const told = told_at === null ? '' : `told at ${told_at}, `;
  const off =
    off_for.length === 0
      ? ''
      : `; off for ${off_for.join(', ')}, which ${off_for.length === 1 ? 'does' : 'do'} not tell it`;
  return `${sign}: ${told}ended at ${cut_at}${off}`;
}

function sandboxLines(sandbox: PlanFacts['sandbox']): readonly string[] {
  if (sandbox === null) return ['off'];
  const { rules, refusals, variables } = sandbox;
  return [...(rules === null ? [] : sandboxRuleLines(rules, variables)), ...refusals];
}

function commandLine(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

/** Returns a heading with its lines, indented; empty if there are none. */
export function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  // Indents every line, so that a text of several lines cannot look like a section.
  const indented = lines.flatMap((line) => line.split('\n')).map((line) => `  ${line}`);
  return `${title}:\n${indented.join('\n')}`;
}

const HEAD_LINES = 20;
const TAIL_LINES = 12;

/** Returns the lines of a prompt. A long one loses its middle, but not its end, where ralph's additions are. */
export function shortened(prompt: string): readonly string[] {
  const lines = prompt.trimEnd().split('\n');
  if (lines.length <= HEAD_LINES + TAIL_LINES) return lines;
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  return [...lines.slice(0, HEAD_LINES), `[… ${left} more lines …]`, ...lines.slice(-TAIL_LINES)];
}

/** Returns each setting on a line, with its value and its source. */
export function settingLines({ settings }: Pick<PlanFacts, 'settings'>): readonly string[] {
  const width = Math.max(0, ...settings.map(({ name }) => name.length));
  return settings.map(({ name, value, source }) => {
    const text = JSON.stringify(value);
    const shown = text.length > 60 ? `${text.slice(0, 59)}…` : text;
    return `${name.padEnd(width)}  ${shown}  (${source})`;
  });
}

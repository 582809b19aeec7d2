import path from 'node:path';
import { isPaymentFile } from '../core/rescue/payment.ts';
import { nearest } from '../core/settings/nearest.ts';
import { parseValue } from '../core/settings/parse-value.ts';
import { type ResolvedSettings, resolveSettings } from '../core/settings/resolve-settings.ts';
import type { Layer, Source, Sources, Written } from '../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, type Settings } from '../core/settings/settings.ts';
import { isPayment, TASK_TYPES, type TaskTypeLimits } from '../core/settings/task-type.ts';
import { readTaskText, splitFrontMatter } from '../effects/vault/task-file.ts';
import type { FrontMatter } from './front-matter.ts';

/** What is written down about one task, by where it was written; what is absent is an empty layer. */
export interface WrittenLayers {
  readonly flags: Layer;
  readonly variables: Layer;
  readonly config: Layer;
  /** Task types of the configuration. */
  readonly taskTypes: Readonly<Record<string, TaskTypeLimits>>;
  /** The folder ralph was started in. */
  readonly startDir: string;
}

/** What a task's settings are. */
export interface SettledSettings {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly bad: ReadonlySet<SettingName>;
  readonly taskType: string;
  /** Whether the task file wants an approval before anything is done. */
  readonly approvalRequired: boolean;
  /** Values that are none. */
  readonly valueProblems: readonly string[];
  /** What else is wrong: the task type, the front matter. */
  readonly problems: readonly string[];
}

/** Lays what is written over one another, the task file's front matter and the task type among it. */
export async function settle(layers: WrittenLayers): Promise<SettledSettings> {
  const { flags, variables, config } = layers;
  const types = allTypes(layers.taskTypes);
  const front = await frontMatterOf(layers);
  const named = flags.taskType ?? variables.taskType;
  const ofFile = named === undefined ? knownType(front.type, types) : undefined;
  const own = named ?? config.taskType;
  const written = ofFile ?? own;
  const type = taskTypeLayer(written, types);
  const fallback = own === undefined ? layers.taskTypes.default : undefined;
  const lower = [
    taskTypeLayer(own, types).layer,
    config,
    ...(fallback === undefined ? [] : [layerOf(fallback, 'default')]),
  ];
  // What the file says stands above all else where it lowers a limit, whoever has set that.
  const base = {
    ...resolveSettings([flags, variables, ...lower]),
    isTyped: own !== undefined,
    isBounded: LIMITS.some((name) => (flags[name] ?? variables[name]) !== undefined),
  };
  const ofType = ofFile === undefined ? {} : limitsOfFile(type.layer, base);
  const typed = resolveSettings([ofType, flags, variables, ...lower]);
  const { maxIterations, ...others } = frontMatterLayer(front, typed.settings.maxIterations);
  const limits = maxIterations === undefined ? ofType : { ...ofType, maxIterations };
  const resolved = resolveSettings([limits, flags, variables, others, ...lower]);
  return {
    settings: resolved.settings,
    sources: resolved.sources,
    bad: resolved.bad,
    taskType: textOf(written) ?? 'default',
    approvalRequired: front.approvalRequired,
    valueProblems: resolved.problems,
    problems: [...new Set([...type.problems, ...refusedPayment(front.type), ...front.problems])],
  };
}

/** The limits that a task type sets. */
const LIMITS = ['maxIterations', 'iterationTimeout', 'timeout'] as const;

/** What is in force without the type that a task file names. */
interface WithoutType extends ResolvedSettings {
  /** Whether a type was named elsewhere; else one in the sources is only the default of a configuration. */
  readonly isTyped: boolean;
  /** Whether any of the three was chosen by flag or variable: then nobody wanted the run to be longer. */
  readonly isBounded: boolean;
}

/** Of the limits of a type that a task file names those that count: it may raise a mere default only. */
function limitsOfFile(type: Layer, base: WithoutType): Layer {
  const counting: Partial<Record<SettingName, Written>> = {};
  for (const name of LIMITS) {
    const written = type[name];
    if (written === undefined) continue;
    const { kind } = base.sources[name];
    const isDefault = kind === 'default' || (kind === 'task-type' && !base.isTyped);
    const isLower = limitOf(name, written) < base.settings[name];
    if (isLower || (isDefault && !base.isBounded)) counting[name] = written;
  }
  for (const [inner, outer] of WITHIN) {
    const limit = counting[outer];
    const value = counting[inner] ? limitOf(inner, counting[inner]) : base.settings[inner];
    if (limit !== undefined && value !== null && value > limitOf(outer, limit)) {
      counting[inner] = limit;
    }
  }
  return counting;
}

/** What must not be longer than what. Where a file has made that so, it is nobody's mistake: it is cut. */
const WITHIN = [
  ['iterationTimeout', 'timeout'],
  ['idleTimeout', 'iterationTimeout'],
] as const;

/** The number a limit stands for; one that cannot be read is none, and told elsewhere. */
function limitOf(name: SettingName, written: Written): number {
  const parsed = parseValue(SETTINGS[name].type, written.value);
  return 'value' in parsed ? Number(parsed.value) : Number.NaN;
}

/** The settings of a front matter, given what is in force without it. */
function frontMatterLayer(front: FrontMatter, maxIterations: number): Layer {
  const limit = Number(front.maxIterations?.value);
  const isLower = front.maxIterations !== null && !(limit >= maxIterations);
  return {
    ...(front.promise === null ? {} : { promise: front.promise }),
    ...(isLower && front.maxIterations !== null ? { maxIterations: front.maxIterations } : {}),
  };
}

/** The front matter of the task file, if there is one; whether the file is good is judged later. */
async function frontMatterOf(layers: WrittenLayers): Promise<FrontMatter> {
  const { flags, variables, config, startDir } = layers;
  const { settings } = resolveSettings([flags, variables, config]);
  if (settings.taskFile === null) return NO_FRONT_MATTER;
  const vault = path.resolve(startDir, settings.vault ?? '.');
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
  const text = readTaskText(settings.taskFile, vault, cwd);
  if (text === null) return NO_FRONT_MATTER;
  const { frontMatter } = splitFrontMatter(text);
  // The YAML reader is loaded only where there is something to read.
  const front =
    frontMatter === null
      ? NO_FRONT_MATTER
      : (await import('./front-matter.ts')).readFrontMatter(frontMatter, settings.taskFile);
  const isTold = refusedPayment(front.type).length > 0;
  return !isTold && isPaymentFile({ name: '', frontMatter: { type: null, problem: null }, text })
    ? { ...front, problems: [...front.problems, paymentInText(settings.taskFile)] }
    : front;
}

/** However it is written, and wherever in the file: one too many goes to a person rather than one too few. */
function paymentInText(file: string): string {
  return `${file} says that it is about a payment: ralph never automates payments; leave it to a person.`;
}

const NO_FRONT_MATTER: FrontMatter = {
  type: null,
  promise: null,
  maxIterations: null,
  approvalRequired: false,
  problems: [],
};

/**
 * A type that a task file names counts where it is one, or is a payment, which is refused; other
 * programs have types of their own.
 */
function knownType(
  type: Written | null,
  types: Readonly<Record<string, TaskTypeLimits>>,
): Written | undefined {
  const text = textOf(type ?? undefined);
  if (type === null || text === undefined) return undefined;
  return isPayment(text) || Object.hasOwn(types, text) ? type : undefined;
}

/** What a configuration says of a built-in type is laid over it: the rest of its limits stay. */
function allTypes(
  own: Readonly<Record<string, TaskTypeLimits>>,
): Readonly<Record<string, TaskTypeLimits>> {
  const changed = Object.entries(own).map(([type, limits]) => [
    type,
    { ...(Object.hasOwn(TASK_TYPES, type) ? TASK_TYPES[type] : {}), ...limits },
  ]);
  return { ...TASK_TYPES, ...Object.fromEntries(changed) };
}

/** Wherever a payment is named, also where another type counts. */
function refusedPayment(written: Written | null): readonly string[] {
  const type = textOf(written ?? undefined);
  if (written === null || type === undefined || !isPayment(type)) return [];
  return [
    `${written.source.where} '${type}' is refused: ralph never automates payments; leave it to a person.`,
  ];
}

function taskTypeLayer(
  written: Written | undefined,
  types: Readonly<Record<string, TaskTypeLimits>>,
): { readonly layer: Layer; readonly problems: readonly string[] } {
  const type = textOf(written);
  if (written === undefined || type === undefined) return { layer: {}, problems: [] };
  const { where } = written.source;
  if (isPayment(type)) return { layer: {}, problems: refusedPayment(written) };
  const limits = Object.hasOwn(types, type) ? types[type] : undefined;
  if (limits !== undefined) return { layer: layerOf(limits, type), problems: [] };
  const near = nearest(type, Object.keys(types));
  const hint =
    near === null ? `expected one of ${Object.keys(types).join(', ')}` : `did you mean ${near}?`;
  return { layer: {}, problems: [`${where} '${type}' is not a task type; ${hint}`] };
}

function layerOf(limits: TaskTypeLimits, type: string): Layer {
  const source: Source = { kind: 'task-type', where: `task type ${type}` };
  const layer: Partial<Record<SettingName, Written>> = {};
  if (limits.maxIterations !== undefined)
    layer.maxIterations = { value: limits.maxIterations, source };
  if (limits.iterationTimeout !== undefined) {
    layer.iterationTimeout = { value: limits.iterationTimeout, source };
  }
  if (limits.timeout !== undefined) layer.timeout = { value: limits.timeout, source };
  return layer;
}

function textOf(written: Written | undefined): string | undefined {
  return typeof written?.value === 'string' ? written.value : undefined;
}

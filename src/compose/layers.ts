import path from 'node:path';
import { nearest } from '../core/nearest.ts';
import type { Layer, Source, Sources, Written } from '../core/setting-source.ts';
import type { SettingName, Settings } from '../core/settings.ts';
import { isPayment, TASK_TYPES, type TaskTypeLimits } from '../core/task-type.ts';
import { readTaskText, splitFrontMatter } from '../effects/task-file.ts';
import { isPaymentFile } from '../orchestrator/payment.ts';
import type { FrontMatter } from './front-matter.ts';
import { resolveSettings } from './resolve-settings.ts';

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
  const written =
    flags.taskType ?? variables.taskType ?? knownType(front.type, types) ?? config.taskType;
  const type = taskTypeLayer(written, types);
  const fallback = written === undefined ? layers.taskTypes.default : undefined;
  const lower = [
    type.layer,
    config,
    ...(fallback === undefined ? [] : [layerOf(fallback, 'default')]),
  ];
  const without = resolveSettings([flags, variables, ...lower]);
  // It stands behind flags and variables, but a limit is lowered whoever has set it.
  const { maxIterations, ...others } = frontMatterLayer(front, without.settings.maxIterations);
  const limit = maxIterations === undefined ? {} : { maxIterations };
  const resolved = resolveSettings([limit, flags, variables, others, ...lower]);
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
  return `${file} says that it is about a payment: a payment is never looped; leave it to a person.`;
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
    `${written.source.where} '${type}' is refused: a payment is never looped; leave it to a person.`,
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

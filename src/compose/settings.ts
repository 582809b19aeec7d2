import path from 'node:path';
import { isPaymentFile } from '../core/rescue/payment.ts';
import { parseValue } from '../core/settings/parse-value.ts';
import { type ResolvedSettings, resolveSettings } from '../core/settings/resolve-settings.ts';
import {
  type Layer,
  layerOf,
  type SourcedSettings,
  textOf,
  type Written,
} from '../core/settings/setting-source.ts';
import { SETTINGS, type SettingName } from '../core/settings/settings.ts';
import { isPayment, TASK_TYPES, type TaskTypeLimits } from '../core/settings/task-type.ts';
import { nearest } from '../core/text/nearest.ts';
import { readTaskText, splitFrontMatter } from '../effects/vault/task-file.ts';
import { vaultAbove } from '../effects/vault/vault-above.ts';
import type { FrontMatter } from './front-matter.ts';

/** The settings of one task as the user wrote them, by where they are written. A source that is absent is empty. */
export interface WrittenLayers {
  readonly flags: Layer;
  readonly variables: Layer;
  readonly config: Layer;
  /** The task types that the configuration defines. */
  readonly taskTypes: Readonly<Record<string, TaskTypeLimits>>;
  readonly startDir: string;
}

/** The effective settings of a task. */
export interface SettledSettings extends SourcedSettings {
  readonly bad: ReadonlySet<SettingName>;
  readonly taskType: string;
  /** Whether the task file requires an approval before any work. */
  readonly approvalRequired: boolean;
  /** One sentence for each invalid value. */
  readonly valueProblems: readonly string[];
  /** One sentence for each problem with the task type or the front matter. */
  readonly problems: readonly string[];
}

/** Merges all layers, including the task file's front matter and the task type. */
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
    ...(fallback === undefined ? [] : [typeLayer(fallback, 'default')]),
  ];
  const base = resolveSettings([flags, variables, ...lower]);
  const isBounded = LIMITS.some((name) => (flags[name] ?? variables[name]) !== undefined);
  const ofType =
    ofFile === undefined
      ? {}
      : limitsOfFile(type.layer, { ...base, isTyped: own !== undefined, isBounded });
  const typed = resolveSettings([ofType, flags, variables, ...lower]);
  // A lower limit in the task file overrides that of every other source.
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

/** The limits that a task type can set. */
const LIMITS = ['maxIterations', 'iterationTimeout', 'timeout'] as const;

/** The settings that would apply if the task file named no type. */
interface WithoutType extends ResolvedSettings {
  /** Whether another source names a type. If not, a type's limits are those of the configuration's type `default`. */
  readonly isTyped: boolean;
  /** Whether a flag or variable sets one of `LIMITS`. If so, the file's type may not raise any of them. */
  readonly isBounded: boolean;
}

/** Returns those limits of a task file's type that apply: it can lower any limit, but raise only a default. */
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

/** The first limit of a pair must not exceed the second. If a file's type breaks this, the first is lowered. */
const WITHIN = [
  ['iterationTimeout', 'timeout'],
  ['idleTimeout', 'iterationTimeout'],
] as const;

/** Returns a limit as a number, or NaN if it is invalid, which is reported elsewhere. */
function limitOf(name: SettingName, written: Written): number {
  const parsed = parseValue(SETTINGS[name].type, written.value);
  return 'value' in parsed ? Number(parsed.value) : Number.NaN;
}

/** Returns the settings of a task file's front matter; its `maxIterations` only if lower than that of other sources. */
function frontMatterLayer(front: FrontMatter, maxIterations: number): Layer {
  const limit = Number(front.maxIterations?.value);
  const isLower = front.maxIterations !== null && !(limit >= maxIterations);
  return {
    ...(front.promise === null ? {} : { promise: front.promise }),
    ...(isLower && front.maxIterations !== null ? { maxIterations: front.maxIterations } : {}),
  };
}

/** Reads the front matter of the task file; empty without a file or if it cannot be read, which is reported later. */
async function frontMatterOf(layers: WrittenLayers): Promise<FrontMatter> {
  const { flags, variables, config, startDir } = layers;
  const given = [flags, variables, config];
  if (given.every(({ taskFile }) => taskFile === undefined)) return NO_FRONT_MATTER;
  const { settings } = resolveSettings(given);
  if (settings.taskFile === null) return NO_FRONT_MATTER;
  const vault = path.resolve(startDir, settings.vault ?? vaultAbove(startDir));
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
  const text = readTaskText(settings.taskFile, vault, cwd);
  if (text === null) return NO_FRONT_MATTER;
  const { frontMatter } = splitFrontMatter(text);
  // The YAML reader is loaded only if there is front matter to read.
  const front =
    frontMatter === null
      ? NO_FRONT_MATTER
      : (await import('./front-matter.ts')).readFrontMatter(frontMatter, settings.taskFile);
  const isTold = refusedPayment(front.type).length > 0;
  return !isTold && isPaymentFile({ name: '', frontMatter: { type: null, problem: null }, text })
    ? { ...front, problems: [...front.problems, paymentInText(settings.taskFile)] }
    : front;
}

/** Returns the refusal of a text that looks like a payment: a false alarm is better than a missed payment. */
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

/** Returns the type that a task file names if ralph knows it, or refuses it as a payment; else undefined. */
function knownType(
  type: Written | null,
  types: Readonly<Record<string, TaskTypeLimits>>,
): Written | undefined {
  const text = textOf(type ?? undefined);
  if (type === null || text === undefined) return undefined;
  return isPayment(text) || Object.hasOwn(types, text) ? type : undefined;
}

/** Returns the built-in task types and those of `own`, which may change single limits of a built-in type. */
function allTypes(
  own: Readonly<Record<string, TaskTypeLimits>>,
): Readonly<Record<string, TaskTypeLimits>> {
  const changed = Object.entries(own).map(([type, limits]) => [
    type,
    { ...(Object.hasOwn(TASK_TYPES, type) ? TASK_TYPES[type] : {}), ...limits },
  ]);
  return { ...TASK_TYPES, ...Object.fromEntries(changed) };
}

/** Returns the refusal of a type that is a payment. It is refused even if another source overrides this type. */
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
  if (limits !== undefined) return { layer: typeLayer(limits, type), problems: [] };
  const near = nearest(type, Object.keys(types));
  const hint =
    near === null ? `expected one of ${Object.keys(types).join(', ')}` : `did you mean ${near}?`;
  return { layer: {}, problems: [`${where} '${type}' is not a task type; ${hint}`] };
}

function typeLayer(limits: TaskTypeLimits, type: string): Layer {
  return layerOf(limits, () => ({ kind: 'task-type', where: `task type ${type}` }));
}

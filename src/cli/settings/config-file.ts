import path from 'node:path';
import { type Document, isMap, isNode, isScalar, LineCounter, type Pair, type YAMLMap } from 'yaml';
import { configKeys, withUnit } from '../../core/settings/config-keys.ts';
import { parseValue } from '../../core/settings/parse-value.ts';
import {
  VAULT_SETTINGS,
  type VaultLayer,
  type VaultSettingName,
  vaultSettingNames,
} from '../../core/settings/rescue-settings.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, snakeCase } from '../../core/settings/settings.ts';
import { isPayment, type TaskTypeLimits } from '../../core/settings/task-type.ts';
import { nearest } from '../../core/text/nearest.ts';
import { parseYaml } from '../../effects/files/yaml-document.ts';
import type { ConfigText } from '../../effects/plan/config-search.ts';

export interface ConfigSettings {
  readonly layer: Layer;
  readonly taskTypes: Readonly<Record<string, TaskTypeLimits>>;
  /** The settings that only `ralph rescue` and `ralph watch` have, with valid values. */
  readonly vault: VaultLayer;
  readonly problems: readonly string[];
}

const OF_BREAKER = ['noProgressLimit', 'sameErrorLimit'] as const;

const OF_TASK_TYPE = ['maxIterations', 'iterationTimeout', 'timeout', 'proof'] as const;

const OWN_KEYS = ['enabled', 'completion_strategy', 'circuit_breaker', 'task_types'];

/** Reads a configuration file, or only its section `ralph:` if there is one. Reports all problems with line numbers. */
export function readConfig(config: ConfigText): ConfigSettings {
  const lines = new LineCounter();
  const document = parseYaml(config.text, { lineCounter: lines, prettyErrors: false });
  if ('problem' in document) {
    const problem = `${path.basename(config.file)} cannot be read: ${document.problem}.`;
    return { layer: {}, taskTypes: {}, vault: {}, problems: [problem] };
  }
  const at = (offset: number | undefined): string =>
    `${path.basename(config.file)}:${lines.linePos(offset ?? 0).line}`;
  const reader: Reader = {
    document,
    at,
    layer: {},
    taskTypes: {},
    vault: {},
    problems: [],
  };
  for (const error of document.errors) {
    reader.problems.push(`${at(error.pos[0])} is not valid YAML: ${error.message}.`);
  }
  const whole = document.contents;
  const isEmpty = whole === null || (isScalar(whole) && whole.value === null);
  if (document.errors.length > 0 || isEmpty) return reader;
  if (!isMap(whole)) {
    reader.problems.push(`${at(0)} expects keys and values, such as "max_iterations: 10".`);
    return reader;
  }
  const section = whole.items.find((pair) => keyText(pair) === 'ralph');
  const keys = section === undefined ? whole : section.value;
  if (isMap(keys)) readKeys(keys, reader);
  else if (section !== undefined && plainValue(section, reader) !== null) {
    reader.problems.push(`${positionOf(section, reader)} ralph expects keys and values below it.`);
  }
  return reader;
}

interface Reader {
  readonly document: Document;
  readonly at: (offset: number | undefined) => string;
  readonly layer: Partial<Record<SettingName, Written>>;
  readonly taskTypes: Record<string, TaskTypeLimits>;
  readonly vault: Partial<Record<VaultSettingName, Written>>;
  readonly problems: string[];
}

function readKeys(map: YAMLMap, reader: Reader): void {
  const names = configKeys();
  for (const { key, where, value, node } of entriesOf(map, '', reader)) {
    const source = { kind: 'config' as const, where };
    const known = names.get(key);
    const vaultName = vaultSettingNames().find((each) => snakeCase(each) === key);
    if (known !== undefined) write(known.name, { value: withUnit(value, known), source }, reader);
    else if (vaultName !== undefined) {
      const parsed = parseValue(VAULT_SETTINGS[vaultName].type, value);
      if ('problem' in parsed) reader.problems.push(`${where} ${parsed.problem}.`);
      else reader.vault[vaultName] = { value, source };
    } else if (key === 'circuit_breaker') readCircuitBreaker(node, where, reader);
    else if (key === 'task_types') readTaskTypes(node, where, reader);
    else if (key === 'enabled') readEnabled(value, where, reader);
    else if (key === 'completion_strategy') readStrategy(value, where, reader);
    else
      reader.problems.push(
        unknownKey(where, key, [...names.keys(), ...vaultSettingNames().map(snakeCase)]),
      );
  }
}

/** Stores a setting. Reports a problem if it is set twice, under two of its names. */
function write(name: SettingName, written: Written, reader: Reader): void {
  const first = reader.layer[name];
  if (first === undefined) reader.layer[name] = written;
  else reader.problems.push(`${written.source.where} is already set by ${first.source.where}.`);
}

function unknownKey(where: string, key: string, known: readonly string[]): string {
  const near = nearest(key, [...known, ...OWN_KEYS]);
  return `${where} is not a setting of ralph${near === null ? '' : `; did you mean ${near}?`}`;
}

function readCircuitBreaker(node: unknown, where: string, reader: Reader): void {
  if (!isMap(node)) {
    reader.problems.push(`${where} expects limits such as "no_progress_limit: 3".`);
    return;
  }
  for (const { key, where: place, value } of entriesOf(node, 'circuit_breaker.', reader)) {
    const name = OF_BREAKER.find((each) => snakeCase(each) === key);
    if (name !== undefined)
      write(name, { value, source: { kind: 'config', where: place } }, reader);
    else reader.problems.push(unknownKey(place, key, OF_BREAKER.map(snakeCase)));
  }
}

function readEnabled(value: unknown, where: string, reader: Reader): void {
  if (typeof value !== 'boolean') {
    reader.problems.push(`${where} expects true or false; found ${JSON.stringify(value)}.`);
  } else if (!value) {
    reader.problems.push(`${where} is false: ralph is turned off here; set it to true to run.`);
  }
}

function readStrategy(value: unknown, where: string, reader: Reader): void {
  if (value !== 'promise' && value !== 'file_movement') {
    reader.problems.push(
      `${where} expects promise or file_movement; found ${JSON.stringify(value)}.`,
    );
  }
}

function readTaskTypes(node: unknown, where: string, reader: Reader): void {
  if (!isMap(node)) {
    reader.problems.push(`${where} expects a table of task types, each with its limits.`);
    return;
  }
  for (const { key: type, where: place, node: limits } of entriesOf(node, 'task_types.', reader)) {
    if (isPayment(type)) {
      reader.problems.push(`${place} is refused: ralph never automates payments.`);
    } else if (isMap(limits)) {
      reader.taskTypes[type] = readLimits(limits, type, reader);
    } else {
      reader.problems.push(`${place} expects limits such as "max_iterations: 10".`);
    }
  }
}

function readLimits(map: YAMLMap, type: string, reader: Reader): TaskTypeLimits {
  const limits: Partial<Record<keyof TaskTypeLimits, string>> = {};
  for (const { key, where, value } of entriesOf(map, `task_types.${type}.`, reader)) {
    const name = OF_TASK_TYPE.find((each) => snakeCase(each) === key);
    if (name === undefined) {
      reader.problems.push(unknownKey(where, key, OF_TASK_TYPE.map(snakeCase)));
      continue;
    }
    const parsed = parseValue(SETTINGS[name].type, value);
    if ('problem' in parsed) reader.problems.push(`${where} ${parsed.problem}.`);
    else limits[name] = String(value);
  }
  return limits;
}

interface Entry {
  readonly key: string;
  /** Where the entry is, for messages: the file and line, then its key with the section in front. */
  readonly where: string;
  readonly value: unknown;
  readonly node: unknown;
}

/** Returns the entries of a map. Reports values that cannot be read, and leaves them out. */
function entriesOf(map: YAMLMap, section: string, reader: Reader): readonly Entry[] {
  return map.items.flatMap((pair) => {
    const key = keyText(pair);
    const value = plainValue(pair, reader);
    const where = `${positionOf(pair, reader)} ${section}${key}`;
    return value === UNREADABLE ? [] : [{ key, where, value, node: pair.value }];
  });
}

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function positionOf(pair: Pair, reader: Reader): string {
  return reader.at(isScalar(pair.key) ? pair.key.range?.[0] : undefined);
}

/** The most YAML aliases in a value: with more, a few lines can expand to gigabytes. */
const MAX_ALIASES = 100;

/** Marks a value whose problem is already reported. */
const UNREADABLE = Symbol('unreadable');

function plainValue(pair: Pair, reader: Reader): unknown {
  const { value } = pair;
  if (!isNode(value)) return value;
  try {
    const plain: unknown = value.toJS(reader.document, { maxAliasCount: MAX_ALIASES });
    // This throws if an alias refers to itself: no message could print such a value.
    JSON.stringify(plain);
    return plain;
  } catch (error) {
    const reason = error instanceof ReferenceError ? error.message : 'an alias refers to itself';
    reader.problems.push(`${positionOf(pair, reader)} ${keyText(pair)}: ${reason}.`);
    return UNREADABLE;
  }
}

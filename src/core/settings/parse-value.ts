import { isObject } from '../text/is-object.ts';
import { nearest } from '../text/nearest.ts';
import { textsFromMap, textsIn } from './agent-texts.ts';
import { readChecks } from './checks.ts';
import { parseDuration } from './duration.ts';
import type { SettingKind } from './rows/setting-row.ts';

/** Parses a setting's value as it was written. Returns the value or a problem: what was expected and what was found. */
export function parseValue(
  type: SettingKind,
  written: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const value = read(type, written);
  if (value === null) {
    return { problem: `expects ${expected(type)}; found ${shown(written)}${meant(type, written)}` };
  }
  const what = wantedText(type);
  return what !== undefined && [value].flat().some(isBlank)
    ? { problem: `expects ${what}; found an empty text` }
    : { value };
}

/** Returns what is expected instead of a blank text; undefined if a blank text is allowed. */
function wantedText(type: SettingKind): string | undefined {
  if (type.kind === 'checks') return SHELL_COMMAND;
  if (type.kind === 'command') return type.isSplit ? undefined : SHELL_COMMAND;
  return type.kind === 'text' || type.kind === 'texts' ? type.what : undefined;
}

const SHELL_COMMAND = 'a shell command';

function isBlank(value: unknown): boolean {
  const text = isObject(value) ? value.command : value;
  return typeof text === 'string' && text.trim() === '';
}

/** Reads a value; null if it is invalid. This is written by hand, since a schema library would cost 4 ms per start. */
function read(type: SettingKind, written: unknown): unknown {
  switch (type.kind) {
    case 'text':
    case 'command':
      return typeof written === 'string' ? written : null;
    case 'texts':
      return textsOf(written);
    case 'agent-texts':
      return isObject(written)
        ? textsFromMap(written)
        : (textsOf(written)?.flatMap(textsIn) ?? null);
    case 'checks':
      return readChecks(written);
    case 'switch':
      return switchOf(written);
    case 'choice':
      return type.choices.find((choice) => choice === written) ?? null;
    case 'choices':
      return choicesIn(written, type.choices);
    case 'count':
      return numberOf(written, type.min, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null));
    case 'duration':
      return numberOf(written, type.minMs, parseDuration);
    case 'size':
      return numberOf(written, 1, parseSize);
    case 'cost':
      return numberOf(written, 0.000001, (text) =>
        /^\d+(\.\d+)?$/.test(text) ? Number(text) : null,
      );
    case 'percent':
      return numberOf(written, 1, readPercent);
  }
}

function textsOf(written: unknown): readonly string[] | null {
  if (typeof written === 'string') return [written];
  if (!Array.isArray(written)) return null;
  return written.every((each) => typeof each === 'string') ? written : null;
}

/** Reads words from a list or a text with commas. Returns null unless each word is one of the choices. */
function choicesIn(written: unknown, choices: readonly string[]): readonly string[] | null {
  const words = wordsIn(written);
  return words.length > 0 && words.every((word) => choices.includes(word)) ? words : null;
}

function wordsIn(written: unknown): readonly string[] {
  return (textsOf(written) ?? []).flatMap((text) => text.split(',')).map((word) => word.trim());
}

const SWITCH_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
  ['', false],
]);

function switchOf(written: unknown): boolean | null {
  if (typeof written === 'boolean') return written;
  return typeof written === 'string' ? (SWITCH_WORDS.get(written.toLowerCase()) ?? null) : null;
}

/** Reads a number from text, or from a number as in a configuration file: `max_iterations: 10`. */
function numberOf(
  written: unknown,
  min: number,
  parse: (text: string) => number | null,
): number | null {
  if (typeof written !== 'string' && typeof written !== 'number') return null;
  const value = parse(String(written));
  return value !== null && Number.isFinite(value) && value >= min ? value : null;
}

function readPercent(text: string): number | null {
  const [, digits] = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text.trim()) ?? [];
  return digits === undefined || Number(digits) > 100 ? null : Number(digits);
}

function expected(type: SettingKind): string {
  switch (type.kind) {
    case 'text':
    case 'command':
      return 'text';
    case 'texts':
      return 'text, or a list of texts';
    case 'agent-texts':
      return 'text, or AGENT=TEXT for each agent';
    case 'checks':
      return 'a shell command, a list of them, or names with a command each';
    case 'switch':
      return 'true or false';
    case 'choice':
      return `one of ${type.choices.join(', ')}`;
    case 'choices':
      return `one of ${type.choices.join(', ')}, or several with commas between them`;
    case 'count':
      return `a whole number, at least ${type.min}`;
    case 'cost':
      return 'an amount in US dollars such as 2 or 0.50, more than 0';
    case 'percent':
      return 'a percentage from 1 to 100';
    case 'size':
      return 'a size such as 64KB, 500MB or 1GB';
    case 'duration':
      return `a duration such as 500ms, 90s, 30m or 1h30m${type.minMs > 0 ? ', more than 0' : ''}`;
  }
}

/** Suggests the choice that was probably meant; '' if no choice is close. */
function meant(type: SettingKind, written: unknown): string {
  if (type.kind !== 'choice' && type.kind !== 'choices') return '';
  const wrong = wordsIn(written).find((word) => !type.choices.includes(word));
  const near = wrong === undefined ? null : nearest(wrong, type.choices);
  return near === null ? '' : ` (did you mean ${near}?)`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Reads a size such as `64KB`, `500MB` or `1GB` (powers of 1,024). Returns null if invalid. */
export function parseSize(text: string): number | null {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([KMG]?)i?B?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return null;
  const bytes = Math.round(Number(amount) * (UNIT_BYTES[unit.toUpperCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

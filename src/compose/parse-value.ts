import * as z from 'zod/mini';
import { parseDuration } from '../core/duration.ts';
import { nearest } from '../core/nearest.ts';
import type { SettingKind } from '../core/settings.ts';
import { parseSize } from '../core/size.ts';

/** Judges one written value; the problem says what was expected and what was found. */
export function parseValue(
  type: SettingKind,
  written: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const parsed = schemaFor(type).safeParse(written);
  return parsed.success
    ? { value: parsed.data }
    : { problem: `expects ${expected(type)}; found ${shown(written)}${meant(type, written)}` };
}

function schemaFor(type: SettingKind): z.ZodMiniType {
  switch (type.kind) {
    case 'text':
      return z.string();
    case 'texts':
      return z.union([z.array(z.string()), oneText]);
    case 'switch':
      return z.union([z.boolean(), switchText]);
    case 'choice':
      return z.enum(type.choices);
    case 'count':
      return numberFrom((text) => (/^\d{1,15}$/.test(text) ? Number(text) : null), type.min);
    case 'duration':
      return numberFrom(parseDuration, type.minMs);
    case 'size':
      return numberFrom(parseSize, 1);
    case 'cost':
      return numberFrom((text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null), 0.000001);
    case 'percent':
      return numberFrom((text) => readPercent(text), 1);
  }
}

const oneText = z.pipe(
  z.string(),
  z.transform((text: string) => [text]),
);

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  no: false,
  off: false,
  '0': false,
  '': false,
};

const switchText = z.pipe(
  z.string(),
  z.pipe(
    z.transform((text: string) => SWITCH_WORDS[text.toLowerCase()]),
    z.boolean(),
  ),
);

/** Configuration files write numbers as numbers: `max_iterations: 10`. */
function numberFrom(read: (text: string) => number | null, min: number): z.ZodMiniType {
  return z.pipe(
    z.union([z.string(), z.number()]),
    z.pipe(
      z.transform((written: string | number) => read(String(written))),
      z.number().check(z.minimum(min)),
    ),
  );
}

function readPercent(text: string): number | null {
  const [, digits] = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text.trim()) ?? [];
  return digits === undefined || Number(digits) > 100 ? null : Number(digits);
}

function expected(type: SettingKind): string {
  switch (type.kind) {
    case 'text':
      return 'text';
    case 'texts':
      return 'text, or a list of texts';
    case 'switch':
      return 'true or false';
    case 'choice':
      return `one of ${type.choices.join(', ')}`;
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

/** The choice that was probably meant. */
function meant(type: SettingKind, written: unknown): string {
  const near =
    type.kind === 'choice' && typeof written === 'string' ? nearest(written, type.choices) : null;
  return near === null ? '' : ` (did you mean ${near}?)`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

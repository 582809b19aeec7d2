const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Reads a size such as `64KB`, `500MB` or `1GB` (powers of 1,024). Returns null if invalid. */
export function parseSize(text: string): number | null {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([KMG]?)i?B?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return null;
  const bytes = Math.round(Number(amount) * (UNIT_BYTES[unit.toUpperCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

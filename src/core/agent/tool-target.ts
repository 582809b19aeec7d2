/** Input fields that say what a tool call acts on; the first one with a text is used. */
const TARGET_KEYS = [
  'command',
  'file_path',
  'notebook_path',
  'filePath',
  'pattern',
  'url',
  'query',
  'description',
] as const;

/** Returns the command, file, pattern or address that a tool call acts on; null if its input names none. */
export function targetOf(input: Readonly<Record<string, unknown>>): string | null {
  for (const key of TARGET_KEYS) {
    const value = input[key];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}

/** As `targetOf`, but cut to at most `length` code units, so that the text can be kept in memory. */
export function shortTarget(
  input: Readonly<Record<string, unknown>>,
  length: number,
): string | null {
  const target = targetOf(input);
  if (target === null || target.length <= length) return target;
  // The text is rebuilt from its characters, because a slice would keep the whole original in memory.
  return target.trimStart().slice(0, length).split('').join('');
}

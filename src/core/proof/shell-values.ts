/** The values that shell variables can have, as far as commands show. Only the variable of a loop has several. */
export type Values = Map<string, readonly string[]>;

/** A variable with more or longer values counts as unknown. */
const MOST_VALUES = 30;
const LONGEST_VALUE = 300;

/** Matches words such as `export` and `do` that can stand before an assignment. */
const BEFORE = /^(?:do|then|else|\{|export|local|readonly|declare|typeset)$/;

/** Stores the variables that a command sets: `D=tools`, `export D=tools`, `for f in a.sh b.sh`. */
export function noteValues(values: Values, words: readonly string[]): void {
  const from = words.findIndex((word) => !BEFORE.test(word));
  const rest = from === -1 ? [] : words.slice(from);
  const [first, name, of, ...list] = rest;
  const isLoop = first === 'for' && name !== undefined && of === 'in';
  if (isLoop) set(values, name, list);
  for (const word of isLoop ? [] : rest) {
    const [, variable, value] = /^(\w+)=([\s\S]*)$/.exec(word) ?? [];
    if (variable === undefined || value === undefined) return;
    set(values, variable, [value]);
  }
}

function set(values: Values, name: string, list: readonly string[]): void {
  const known = list.flatMap((word) => withValues([word], values)).flat();
  const isFollowed =
    known.length <= MOST_VALUES && known.every(({ length }) => length <= LONGEST_VALUE);
  if (isFollowed && known.length > 0) values.set(name, known);
  else values.delete(name);
}

const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g;

/** Returns a command with its variables replaced: several commands if one is the variable of a loop. */
export function withValues(
  words: readonly string[],
  values: Values,
): readonly (readonly string[])[] {
  if (values.size === 0) return [words];
  const named = [...words.join(' ').matchAll(VARIABLE)].map(
    ([, braced, bare]) => braced ?? bare ?? '',
  );
  const loop = named.map((name) => values.get(name) ?? []).find(({ length }) => length > 1) ?? [''];
  return loop.map((_, turn) =>
    words.map((word) =>
      word.replace(VARIABLE, (whole, braced?: string, bare?: string) => {
        const list = values.get(braced ?? bare ?? '');
        return list?.[turn] ?? list?.at(-1) ?? whole;
      }),
    ),
  );
}

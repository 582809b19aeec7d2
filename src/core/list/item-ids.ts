const LONGEST_SLUG = 60;

/** Returns words that can name an item: `Add a login!` becomes `add-a-login`. */
function slugOf(name: string): string {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-');
  return (
    [...words]
      .slice(0, LONGEST_SLUG)
      .join('')
      .replace(/^-+|-+$/g, '') || 'item'
  );
}

/** Gives ids to those that have none: the slug of their name, the second of equal ones with `-2`. */
export function withIds(
  items: readonly { readonly id: string | null; readonly name: string }[],
): readonly string[] {
  const taken = new Set(items.flatMap(({ id }) => id ?? []));
  return items.map(({ id, name }) => {
    if (id !== null) return id;
    const slug = slugOf(name);
    let own = slug;
    for (let number = 2; taken.has(own); number += 1) own = `${slug}-${number}`;
    taken.add(own);
    return own;
  });
}

/**
 * Returns the name of a list: the path of its file below the vault, without its ending. The lists of one JSON file are
 * told apart by their tags.
 */
export function listName(path: string, sections: readonly string[] = []): string {
  if (/\.json$/i.test(path) && sections.length > 0) {
    return listName([path.slice(0, -'.json'.length), ...sections].join('/'));
  }
  const plain = path.replace(/\.(?:json|jsonl|md|markdown)$/i, '');
  // That slashes were replaced is not told apart: two lists hardly differ in that alone, and then one is refused.
  const flat = plain.replace(/^[./]+/, '').replaceAll('/', '-');
  return asName(flat, 60, plain).replaceAll('.', '-');
}

/** Returns the id of the task that works on an item. */
export function taskIdOf(list: string, item: string): string {
  return `${list}.${asName(item, 60)}`;
}

/** Writes a text with the signs of a task id. What is lost is told apart by the sum of the whole. */
function asName(text: string, longest: number, whole = text): string {
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .replace(/\.json$/, '-json');
  const isWhole = plain.length <= longest && plain !== '' && text === plain;
  return isWhole ? plain : `${plain.slice(0, longest - 7) || 'item'}-${sumOf(whole)}`;
}

/** FNV-1a: few equal sums are enough here. */
function sumOf(text: string): string {
  let sum = 0x811c9dc5;
  for (const sign of text) sum = Math.imul(sum ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, '0').slice(0, 6);
}

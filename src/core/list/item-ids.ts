const LONGEST_SLUG = 60;

/** Turns a name into an id: `Add a login!` becomes `add-a-login`. */
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

/** Returns the ids of items. An item without an id gets one from its name, with `-2` added if it is taken. */
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

/** Returns a list's name: its path below the vault (folder of task files) without extension, plus its key in JSON. */
export function listName(path: string, sections: readonly string[] = []): string {
  if (/\.json$/i.test(path) && sections.length > 0) {
    return listName([path.slice(0, -'.json'.length), ...sections].join('/'));
  }
  const plain = path.replace(/\.(?:json|jsonl|md|markdown)$/i, '');
  // `a/b` and `a-b` get the same name. Two such lists are rare, and the second one is then refused.
  const flat = plain.replace(/^[./]+/, '').replaceAll('/', '-');
  return asName(flat, 60, plain).replaceAll('.', '-');
}

/** Returns the id of the task that works on an item. */
export function taskIdOf(list: string, item: string): string {
  return `${list}.${asName(item, 60)}`;
}

/** Reduces a text to the characters of a task id. If anything is lost, adds a checksum of `whole` to keep it unique. */
function asName(text: string, longest: number, whole = text): string {
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .replace(/\.json$/, '-json');
  const isWhole = plain.length <= longest && plain !== '' && text === plain;
  return isWhole ? plain : `${plain.slice(0, longest - 7) || 'item'}-${sumOf(whole)}`;
}

/** Returns six digits of an FNV-1a checksum. Equal checksums are rare enough for names. */
function sumOf(text: string): string {
  let sum = 0x811c9dc5;
  for (const sign of text) sum = Math.imul(sum ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, '0').slice(0, 6);
}

/** Returns each text once, followed by its number if it occurs more than once: `Bash: npm test ×2`. */
export function counted(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count === 1 ? text : `${text} ×${count}`));
}

/** So many links are followed, as by most systems. */
const MOST_STEPS = 40;

/**
 * Returns the path that a path leads to through the symbolic links of a tree, relative to its root; null if a link leads
 * out of it, or round in circles. `targetAt` returns where the link at a path points; null if there is none.
 */
export function throughLinks(
  path: string,
  targetAt: (path: string) => string | null,
): string | null {
  const waiting = path.split('/');
  const done: string[] = [];
  let steps = 0;
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (done.pop() === undefined) return null;
      continue;
    }
    const target = targetAt([...done, part].join('/'));
    if (target === null) {
      done.push(part);
      continue;
    }
    steps += 1;
    if (steps > MOST_STEPS || target.startsWith('/')) return null;
    waiting.unshift(...target.split('/'));
  }
  return done.join('/');
}

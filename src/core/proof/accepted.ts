/**
 * Returns a test for the paths and names that globs accept: `*` and `?` within a folder, `**` across
 * folders, `[…]` and `{a,b}`. A glob that is the very name accepts it, whatever signs are in it. `folder`
 * is the one in which the globs are meant, relative to the top of the work tree; from there or from the top.
 */
export function accepting(globs: readonly string[], folder = ''): (name: string) => boolean {
  const all = folder === '' ? globs : [...globs, ...globs.map((glob) => `${folder}/${glob}`)];
  const names = new Set(all);
  const patterns = all.map(patternOf);
  return (name) => names.has(name) || patterns.some((pattern) => pattern.test(name));
}

/** The parts of a glob that stand for more than themselves. */
const PARTS = /\*\*\/|\*+|\?|\[[^\]/]+\]|\{[^{}]*\}|[\s\S]/g;

function patternOf(glob: string): RegExp {
  try {
    return new RegExp(`^${sourceOf(glob.replace(/^\.\//, ''))}$`);
  } catch {
    // `[z-a]` is no range: only the name itself is meant.
    return /^[^\s\S]/;
  }
}

function sourceOf(glob: string): string {
  return glob.replace(PARTS, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (/^\*\*+$/.test(part)) return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.length > 1 && part.startsWith('{')) {
      return `(?:${part.slice(1, -1).split(',').map(sourceOf).join('|')})`;
    }
    if (part.length > 1) {
      const inner = part.slice(1, -1).replace(/\\/g, '\\\\');
      return `[${inner.replace(/^!/, '^')}]`;
    }
    return part.replace(/[.+^${}()|[\]\\*?]/, '\\$&');
  });
}

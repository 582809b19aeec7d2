/**
 * Returns a function that says whether one of the globs (`*`, `?`, `**`, `[…]`, `{a,b}`) matches a path or name, or is
 * spelled like it. Globs are relative to the top of the work tree or to `folder`, which is relative to the top.
 */
export function accepting(globs: readonly string[], folder = ''): (name: string) => boolean {
  const all = folder === '' ? globs : [...globs, ...globs.map((glob) => `${folder}/${glob}`)];
  const names = new Set(all);
  const patterns = all.map(patternOf);
  return (name) => names.has(name) || patterns.some((pattern) => pattern.test(name));
}

const PARTS = /\*\*\/|\*+|\?|\[[^\]/]+\]|\{[^{}]*\}|[\s\S]/g;

function patternOf(glob: string): RegExp {
  try {
    return new RegExp(`^${sourceOf(glob.replace(/^\.\//, ''))}$`);
  } catch {
    // `[z-a]` is not a valid range, so the glob accepts only the name that is spelled like it.
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

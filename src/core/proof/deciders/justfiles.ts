import { joinedLines, type OpenRecipe, type TaskFile } from './recipes.ts';

/** Matches the head of a recipe, `@name parameter="x": needs`, but not `name := value`. */
const NAMED = /^@?([\w-]+)(?![\w-])(?:"[^"]*"|'[^']*'|[^:"'])*:(?!=)(.*)$/;

/** Reads a justfile line by line. Variables with a plain text as value are replaced. */
export function readJustfile(text: string): TaskFile {
  const values = new Map<string, string>([['justfile_directory()', '.']]);
  const recipes: OpenRecipe[] = [];
  const includes: string[] = [];
  for (const line of joinedLines(text)) {
    const [, variable, value] = /^(?:export +)?([\w-]+) *:= *["']([^"']*)["'] *$/.exec(line) ?? [];
    const [, alias, target] = /^alias +([\w-]+) *:= *([\w:-]+)/.exec(line) ?? [];
    const [, imported] = /^import\?? +["']([^"']+)["']/.exec(line) ?? [];
    const [, module, path] = /^mod\?? +([\w-]+)(?: +["']([^"']+)["'])?/.exec(line) ?? [];
    const [, name, needs] = NAMED.exec(line) ?? [];
    if (/^[ \t]/.test(line)) recipes.at(-1)?.lines.push(line.trim().replace(/^[@-]+/, ''));
    else if (alias !== undefined)
      recipes.push({ names: [alias], needs: [target ?? ''], lines: [] });
    else if (variable !== undefined) values.set(variable, value ?? '');
    else if (imported !== undefined) includes.push(imported);
    else if (module !== undefined) includes.push(path ?? `${module}.just`);
    else if (name !== undefined) {
      recipes.push({ names: [name], needs: needs?.match(/[\w:-]+/g) ?? [], lines: [] });
    }
  }
  const filled = (line: string): string =>
    line.replace(/\{\{ *([\w-]+(?:\(\))?) *\}\}/g, (whole, name) => values.get(name) ?? whole);
  return { includes, recipes: recipes.map((each) => ({ ...each, lines: each.lines.map(filled) })) };
}

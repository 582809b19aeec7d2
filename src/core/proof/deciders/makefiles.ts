import { joinedLines, type Recipe, type TaskFile } from './recipes.ts';

const ASSIGNMENT = /^ *(?:(?:export|override) +)?([\w.-]+) *(?:[:?+!]|::?:)?= *(.*)$/;
const INCLUDE = /^ *(?:-|s)?include +(.+)$/;
/** Matches the head of a rule, `targets: prerequisites ; recipe`, but not `A := b`. */
const RULE = /^([^\s#:=][^:=#]*?)(?:&?::?)(?!=)([^;#]*)(?:;(.*))?/;

/** Limits: how deep variables in variables are expanded, and how long a line may become. */
const MOST_ROUNDS = 3;
const LONGEST_LINE = 4000;

/** Reads a Makefile line by line. Plain variables are replaced; functions of make are not called. */
export function readMakefile(text: string): TaskFile {
  const values = new Map([
    ['MAKE', 'make'],
    ['SHELL', 'sh'],
    ['CURDIR', '.'],
    ['PWD', '.'],
  ]);
  const rules: Recipe[] = [];
  const includes: string[] = [];
  let lines: string[] = [];
  for (const line of joinedLines(text)) {
    if (line.startsWith('\t')) {
      lines.push(line);
      continue;
    }
    const [, variable, value = ''] = ASSIGNMENT.exec(line) ?? [];
    const [, files] = INCLUDE.exec(line) ?? [];
    if (variable !== undefined) values.set(variable, value.split(' #', 1).join(''));
    else if (files !== undefined) includes.push(files);
    else {
      const [, names, needs = '', first] = RULE.exec(line) ?? [];
      if (names === undefined) continue;
      lines = first === undefined ? [] : [first];
      rules.push({ names: [names], needs: [needs], lines });
    }
  }
  const filled = (part: string): string => withMakeValues(part, values);
  const wordsOf = (parts: readonly string[]): readonly string[] =>
    filled(parts.join(' ')).match(/\$\([^)]*\)|\S+/g) ?? [];
  return {
    includes: wordsOf(includes),
    recipes: rules.map((rule) => ({
      names: wordsOf(rule.names),
      needs: wordsOf(rule.needs),
      lines: rule.lines.map((line) =>
        filled(line.trim().replace(/^[@+-]+ */, '')).replaceAll('$$', '$'),
      ),
    })),
  };
}

function withMakeValues(text: string, values: ReadonlyMap<string, string>): string {
  let known = text;
  for (let round = 0; round < MOST_ROUNDS && known.length <= LONGEST_LINE; round += 1) {
    known = known.replace(
      /(?<!\$)\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})/g,
      (whole, inRound?: string, curly?: string) => values.get(inRound ?? curly ?? '') ?? whole,
    );
  }
  return known.slice(0, LONGEST_LINE);
}

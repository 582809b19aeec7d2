import { isAtOrBelow } from './places.ts';
import type { Refusal } from './refusals.ts';
import { BY_DEFAULT, type SandboxRule, type SandboxRules } from './rules.ts';

/** The places that no rule may make writable, and the work folder. */
interface WidthFacts {
  readonly home: string | null;
  readonly workFolder: string;
  readonly keyFolder: string | null;
  /** The folder in which runs with a sandbox find each other. Anyone who can write there could fake a run. */
  readonly runsFolder: string;
}

/** Returns the first reason why the sandbox cannot enforce these rules; null if it can. */
export function ruleProblem(rules: SandboxRules, facts: WidthFacts): Refusal | null {
  return tooWide(rules, facts) ?? wrongPath(rules);
}

function tooWide({ allowWrite }: SandboxRules, facts: WidthFacts): Refusal | null {
  const { home, workFolder } = facts;
  if (takesIn(workFolder, facts).length > 0) {
    return {
      code: 'too-wide',
      sentence: `The agent may write its work folder, and ${shown(workFolder, home)} takes in ${listed(takesIn(workFolder, facts))}: work in a folder below it, or use --no-sandbox.`,
    };
  }
  for (const rule of allowWrite) {
    const parent = rule.value !== workFolder && isAtOrBelow(workFolder, rule.value);
    const found = [...takesIn(rule.value, facts), ...(parent ? ['the work folder'] : [])];
    if (found.length === 0) continue;
    return {
      code: 'too-wide',
      sentence:
        rule.from === BY_DEFAULT
          ? `The agent writes ${shown(rule.value, home)}, which takes in ${listed(found)}: let its variable name a folder below it, or use --no-sandbox.`
          : `${flagOf(rule)} ${shown(rule.value, home)} takes in ${listed(found)}: name a folder below it.`,
    };
  }
  return null;
}

/** Returns the names of the protected places in a folder, which would become writable with it. */
function takesIn(folder: string, { home, keyFolder, runsFolder }: WidthFacts): readonly string[] {
  return [
    ...(folder === '/' ? ['the whole machine'] : []),
    ...(home !== null && isAtOrBelow(`${home}/.ssh`, folder) ? ['~/.ssh'] : []),
    ...(keyFolder !== null && isAtOrBelow(keyFolder, folder) ? ["this driver's state"] : []),
    ...(folder !== '/' && isAtOrBelow(runsFolder, folder) ? ['the folders of other runs'] : []),
  ];
}

/** The sandbox component takes paths with these characters for patterns, and silently ignores rules that deny them. */
export const PATTERN = /[*?[\]]/;

function wrongPath(rules: SandboxRules): Refusal | null {
  const all = [rules.allowWrite, rules.denyWrite, rules.denyRead, rules.allowRead].flat();
  const rule = all.find(({ value }) => PATTERN.test(value));
  if (rule === undefined) return null;
  return {
    code: 'wrong-path',
    sentence: `--sandbox cannot hold a rule for ${rule.value}: paths with one of * ? [ ] are not possible. Rename it, or use --no-sandbox.`,
  };
}

function flagOf({ from }: SandboxRule): string {
  return from.startsWith('--') ? from : `${from}: --allow-write`;
}

function shown(place: string, home: string | null): string {
  if (home === null || !isAtOrBelow(place, home)) return place;
  return `~${place.slice(home.length)}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

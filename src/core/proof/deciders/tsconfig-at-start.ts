import { isObject } from '../../text/is-object.ts';
import { fieldsOfJson } from '../tool-section.ts';
import { plainJson } from './json-comments.ts';

/** Options that say where modules are found and in which form, and nothing of what is right. */
const MODULES = [
  ...['baseUrl', 'paths', 'rootDir', 'rootDirs', 'module', 'moduleResolution', 'target'],
  ...['moduleSuffixes', 'customConditions', 'resolvePackageJsonExports'],
  ...['resolvePackageJsonImports', 'allowImportingTsExtensions', 'resolveJsonModule'],
  ...['esModuleInterop', 'allowSyntheticDefaultImports', 'verbatimModuleSyntax'],
];

/** Whether a file configures the compiler of TypeScript. */
export function isTsconfig(path: string): boolean {
  return /(?:^|\/)(?:ts|js)config[^/]*\.json$/i.test(path);
}

/**
 * Returns a `tsconfig.json` as it was at the start, but with the claim's options for modules: a path alias may be what
 * the work needs. Returns null if one of the texts cannot be read.
 */
export function tsconfigAtStart(now: string, before: string): string | null {
  const [claimed, start] = [now, before].map((text) => fieldsOfJson(plainJson(text)));
  if (claimed == null || start == null) return null;
  const ofModules = (fields: typeof start, isWanted: boolean) =>
    Object.entries(isObject(fields.compilerOptions) ? fields.compilerOptions : {}).filter(
      ([name]) => MODULES.includes(name) === isWanted,
    );
  const compilerOptions = Object.fromEntries([
    ...ofModules(start, false),
    ...ofModules(claimed, true),
  ]);
  return `${JSON.stringify({ ...start, compilerOptions }, null, 2)}\n`;
}

import { isObject } from '../../text/is-object.ts';
import { fieldsOfJson } from '../tool-section.ts';
import { plainJson } from './json-comments.ts';

/** Compiler options that say where modules are and in which format, but not what counts as an error. */
const MODULES = [
  ...['baseUrl', 'paths', 'rootDir', 'rootDirs', 'module', 'moduleResolution', 'target'],
  ...['moduleSuffixes', 'customConditions', 'resolvePackageJsonExports'],
  ...['resolvePackageJsonImports', 'allowImportingTsExtensions', 'resolveJsonModule'],
  ...['esModuleInterop', 'allowSyntheticDefaultImports', 'verbatimModuleSyntax'],
];

/** Whether a file configures the TypeScript compiler. */
export function isTsconfig(path: string): boolean {
  return /(?:^|\/)(?:ts|js)config[^/]*\.json$/i.test(path);
}

/** Returns the `tsconfig.json` of the start, but with the present options for modules; null if either is no JSON. */
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

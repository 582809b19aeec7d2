import { isObject } from '../text/is-object.ts';
import { type TomlEntry, tomlEntries } from './toml-entries.ts';

/** The keys of `package.json` in which tools look for their settings. */
export const IN_PACKAGE_JSON = [
  ...['jest', 'mocha', 'ava', 'tap', 'nyc', 'c8', 'eslintConfig', 'eslintIgnore', 'prettier'],
  ...['stylelint', 'xo', 'standard', 'semistandard', 'wireit', 'nx', 'turbo', 'tsd'],
];
/** The tools whose tables of `pyproject.toml` decide what checks say. */
const IN_PYPROJECT = [
  ...['pytest', 'coverage', 'ruff', 'mypy', 'pyright', 'basedpyright', 'black', 'isort', 'flake8'],
  ...['pylint', 'tox', 'nox', 'poe', 'taskipy', 'pdm.scripts', 'hatch.envs', 'bandit', 'pyrefly'],
  ...['ty', 'pixi.tasks', 'rye.scripts', 'importlinter'],
].map((tool) => ['tool', ...tool.split('.')]);
const IN_SETUP_CFG =
  /^(?:tool:pytest|pytest|aliases|flake8|mypy(?:-.*)?|coverage:.*|isort|pylint.*|pycodestyle|pydocstyle|tox:.*)$/i;
/** Matches keys that list dependencies in the tables of `IN_PYPROJECT`. */
const DEPENDENCIES = /^(?:extra-)?dependenc(?:y|ies)$/;

/**
 * Returns the part of `package.json`, `composer.json`, `pyproject.toml` or `setup.cfg` that checking tools read, as a
 * text to compare. Order, comments, white space and dependencies do not matter. Scripts of `package.json` are left
 * out, since only those that a check runs count. Returns null for every other file: it is compared as a whole, as is a
 * file that cannot be parsed.
 */
export function toolSection(path: string, text: string): string | null {
  switch (path.slice(path.lastIndexOf('/') + 1).toLowerCase()) {
    case 'package.json':
      return ofPackageJson(text);
    case 'composer.json':
      return ofComposer(text);
    case 'pyproject.toml':
      return ofPyproject(tomlEntries(text));
    case 'setup.cfg':
      return ofSetupCfg(text);
    default:
      return null;
  }
}

function ofPackageJson(text: string): string {
  const fields = fieldsOfJson(text);
  if (fields === null) return text;
  return IN_PACKAGE_JSON.toSorted()
    .filter((key) => Object.hasOwn(fields, key))
    .map((key) => `${key} = ${canonical(fields[key])}\n`)
    .join('');
}

function ofComposer(text: string): string {
  const fields = fieldsOfJson(text);
  if (fields === null) return text;
  return isObject(fields.scripts) ? `scripts = ${canonical(fields.scripts)}\n` : '';
}

/** Reads a text as a JSON object. Returns null if it is not one. */
export function fieldsOfJson(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

function ofPyproject(entries: readonly TomlEntry[]): string {
  return entries
    .filter(({ keys }) => IN_PYPROJECT.some((tool) => isAbove(tool, keys) || isAbove(keys, tool)))
    .filter(({ keys }) => !DEPENDENCIES.test(keys.at(-1) ?? ''))
    .map(({ keys, value }) => `${keys.map((key) => JSON.stringify(key)).join('.')} = ${value}\n`)
    .toSorted()
    .join('');
}

/** Whether `keys` begins with `above`, so that it is the table `above` itself or lies in it. */
function isAbove(above: readonly string[], keys: readonly string[]): boolean {
  return above.length <= keys.length && above.every((key, at) => key === keys[at]);
}

function ofSetupCfg(text: string): string {
  const sections = new Map<string, string[]>();
  let section: string | null = null;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, header] = /^\[(.*)\]\s*$/.exec(line) ?? [];
    if (header !== undefined) section = header.trim();
    else if (section !== null && IN_SETUP_CFG.test(section) && !/^\s*(?:[#;]|$)/.test(line)) {
      const body = line.trim().replace(/^([\w.-]+)\s*[=:]\s*/, '$1 = ');
      const isContinued = /^\s/.test(line);
      const lines = sections.get(section) ?? [];
      lines.push(isContinued ? ` ${line.trim()}` : body);
      sections.set(section, lines);
    }
  }
  return [...sections]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, lines]) => `[${name}]\n${lines.join('\n')}\n`)
    .join('');
}

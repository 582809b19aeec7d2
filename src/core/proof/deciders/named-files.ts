const CODE = /\.[cm]?[jt]sx?$/;
/** Matches build files and programs. They name many files; which of these decide results of checks cannot be told. */
const BUILD =
  /(?:^|\/)(?:CMakeLists\.txt|pom\.xml|Directory\.Build\.[^/]+|(?:GNU)?Makefile|\.?justfile|Rakefile|[^/]+\.(?:csproj|exs|mk|py|rs))$/i;

/** The keys with which settings files tell tools what to load. */
const KEYS = [
  ...[
    'extends?',
    'references',
    'setup\\w*',
    'global_?setup',
    'global_?teardown',
    'teardown',
    'presets?',
    'requires?',
  ],
  ...[
    'import',
    'preload',
    'loader',
    'reporters?',
    'runner',
    'test_?runner',
    'resolver',
    'transform',
  ],
  ...['(?:test_?)?environment', 'snapshot_?serializers', '(?:test_?)?sequencer', '(?:js)?plugins?'],
  ...['processors?', 'rulesdir', 'rule_?paths', 'rules_?directory', 'bootstrap', 'inherit_from'],
  ...['config(?:_?file|_?location|uration)?', 'env_?files?', 'dotenv', 'script-shell', 'from'],
].join('|');
/** Matches a key up to the beginning of its value. */
const KEY = new RegExp(`(?<![\\w-])(?:${KEYS})["']?\\s*(?:[:=>]\\s*|(?=["']))`, 'gi');
const IMPORT = /(?:\bfrom|\bimport|\brequire|\bresolve)\s*\(?\s*["'`]([^"'`\n]+)["'`]/g;

/** How much of a value, and how many keys of a file, are read. */
const LONGEST_VALUE = 2000;
const MOST_KEYS = 200;

/** Returns what a JavaScript program imports, as it is written there. */
export function importsIn(path: string, text: string): readonly string[] {
  if (!CODE.test(path)) return [];
  return [...text.matchAll(IMPORT)].map(([, name = '']) => name);
}

const PYTHON = /\.py$/;
const MODULE = /^[ \t]*(?:from[ \t]+(\.?[\w.]+)[ \t]+import|import[ \t]+([\w.]+))/gm;
const PLUGINS = /^pytest_plugins\b[^=\n]*=\s*([[(][^\])]*|.*)/gm;
const QUOTED_PATH = /["'`\s]((?:[\w.@-]+\/)+[\w@-][\w.@-]*\.\w+)(?=["'`\s])/g;
const MOST_PATHS = 500;

/** Returns the paths that a JavaScript or Python program names, and those of the modules that Python imports. */
export function pathsIn(path: string, text: string): readonly string[] {
  const isPython = PYTHON.test(path);
  if (!isPython && !CODE.test(path)) return [];
  const quoted = [...text.matchAll(QUOTED_PATH)].map(([, name = '']) => name);
  const imported = [...text.matchAll(MODULE)].map(([, from, whole]) => from ?? whole ?? '');
  const plugins = [...text.matchAll(PLUGINS)].flatMap(([, list = '']) => stringsIn(list));
  const modules = isPython ? [...imported, ...plugins] : [];
  const places = modules.map((name) => name.replace(/^\./, '').replaceAll('.', '/'));
  const files = places.flatMap((place) => [`${place}.py`, `${place}/__init__.py`]);
  return [...quoted, ...files].slice(0, MOST_PATHS);
}

/** Options in a file of options, such as `.rspec`, that say what to load. */
const OPTION = /(?:^|[\s"'])(?:--require|--import|--env-file)[= ]([^\s"']+)/g;

/** Returns what a settings file tells its tool to load, as it is written there. */
export function namedIn(path: string, text: string): readonly string[] {
  if (BUILD.test(path)) return [];
  const keys = [...text.matchAll(KEY)].slice(0, MOST_KEYS);
  const values = keys.map(({ 0: key, index }) => {
    const from = index + key.length;
    return valueIn(text.slice(from, from + LONGEST_VALUE));
  });
  const options = [...text.matchAll(OPTION)].map(([, name = '']) => name);
  return [...importsIn(path, text), ...options, ...values.flatMap(stringsIn)];
}

const CLOSED: Readonly<Record<string, string>> = {
  '[': ']',
  '{': '}',
  '"': '"',
  "'": "'",
  '`': '`',
};

/** Returns the value at the start of a text, up to its closing bracket or quote, or the end of the line or list. */
function valueIn(text: string): string {
  const end = CLOSED[text.charAt(0)];
  if (end !== undefined) return text.slice(1, (text.indexOf(end, 1) + 1 || text.length) - 1);
  const [line = '', ...below] = text.split('\n');
  const listEnd = below.findIndex((each) => !/^\s*-\s/.test(each));
  return [line, ...below.slice(0, listEnd === -1 ? below.length : listEnd)].join('\n');
}

function stringsIn(value: string): readonly string[] {
  return value
    .replaceAll('<rootDir>/', './')
    .split(/["'`\s,[\]{}()<>]+/)
    .filter((word) => /^[\w@./][^:*$]*$/.test(word));
}

// Bundles src/ into dist/. Names of parts carry a hash of their content, so a ralph that is already
// running while this runs finds the parts it was built with: they are kept for an hour.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { noteBuild, sumOfInputs } from './last-build.js';
import { loadScript } from './load-script.js';

const KEEP_OLD_CHUNKS_MS = 60 * 60 * 1000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
// What changes while this runs is built by the next one.
const sum = await sumOfInputs();
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/*
 * What is built, and what loads what:
 *
 *   bin/ralph.js ──► main.cjs ─┬► run-HASH.cjs ────┬► live-HASH.cjs, config-file-HASH.cjs, …
 *                              └► program-HASH.cjs ┘
 *
 * `run` has all that `ralph run` and `ralph resume` read up to the agent's start: one file, since each
 * costs time, and a script, since the compiled code of a module cannot be kept. What few runs need is
 * loaded later. `program` is all other commands.
 */
/** Scripts by what they are made of, those first that others load. */
const scripts = {
  'src/cli/settings/config-file.ts': 'config-file',
  'src/compose/front-matter.ts': 'front-matter',
  'src/report/terminal/live.ts': 'live',
  'src/compose/sandbox/run-sandbox.ts': 'sandbox',
  'src/compose/sandbox/plan-sandbox.ts': 'plan-sandbox',
  chalk: 'chalk',
  'fast-glob': 'fast-glob',
  'src/cli/short-help.ts': 'short-help',
  'src/fleet/cli/resume.ts': 'resume-fleet',
  'src/cli/commands/rescue.ts': 'rescue',
  'src/cli/commands/watch.ts': 'watch',
  'src/cli/commands/lists/work.ts': 'work',
  'src/fleet/cli/submit/submit.ts': 'submit',
  'src/cli/commands/run.ts': 'run',
  'src/cli/program.ts': 'program',
  'src/cli/main.ts': 'main',
};
/** What programs import, and programs of their own that ralph starts. */
const modules = [
  'src/index.ts',
  'src/effects/processes/guard-program.ts',
  'src/effects/sandbox/sandbox-helper.ts',
  'src/cli/stand-in-agent.ts',
];

/** @type {import('esbuild').BuildOptions & { metafile: true, write: false }} */
const shared = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  platform: 'node',
  target: 'node20',
  // Its main file for Node loads its parts by a `require` that a bundler does not see.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};
const define = { __RALPH_VERSION__: JSON.stringify(version) };

const declared = declarations();
// Told where it is waited for, below; until then it is nobody's.
declared.catch(() => undefined);
const esm = await build({
  ...shared,
  define,
  entryPoints: modules.map((path) => ({ in: path, out: basename(path, '.ts') })),
  // All in one folder: a bundled program is found beside whichever file asks for it.
  chunkNames: 'chunk-[hash]',
  splitting: true,
  format: 'esm',
});
const built = [];
/** @type {Map<string, string>} */
const builtNames = new Map();
for (const [path, name] of Object.entries(scripts)) {
  const script = await build({
    ...shared,
    define: { ...define, 'import.meta.url': 'moduleUrl' },
    banner: { js: 'const moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
    entryPoints: { [name]: path },
    entryNames: name === 'main' ? '[name]' : '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // What is loaded later is loaded by `require`, which bin/load.js has in its hand.
    supported: { 'dynamic-import': false },
    plugins: [loadedLater(builtNames)],
  });
  built.push(script);
  builtNames.set(path, basename(script.outputFiles[0]?.path ?? ''));
}

/**
 * Leaves out of a script what it imports later and what is a script of its own.
 * @param {ReadonlyMap<string, string>} names
 * @returns {import('esbuild').Plugin}
 */
function loadedLater(names) {
  return {
    name: 'loaded-later',
    setup({ onResolve }) {
      onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const name = names.get(
          path.startsWith('.') ? relative(root, join(resolveDir, path)) : path,
        );
        return name === undefined ? undefined : { path: `./${name}`, external: true };
      });
    },
  };
}

// Bundled CommonJS packages ask for node's own modules through `require`, which a module lacks.
// Only the one chunk that holds esbuild's stand-in for it needs a real one.
const REQUIRE =
  'import{createRequire}from"node:module";const require=createRequire(import.meta.url);';
const files = esm.outputFiles.map(({ path, text }) => ({
  path,
  text: text.includes('typeof require') ? REQUIRE + text : text,
}));
for (const { outputFiles } of built) {
  for (const { path, text } of outputFiles) files.push({ path, text: quickToLoad(text) });
}
files.push(...(await declared));
const inputs = [esm, ...built].flatMap(({ metafile }) => Object.keys(metafile.inputs));
files.push({ path: join(dist, 'THIRD-PARTY-LICENSES.txt'), text: await licences(inputs) });

// What has a hash in its name before what names it: no reader sees a file whose parts are missing.
const isChunk = (/** @type {string} */ path) => /-[0-9A-Z]{8}\.c?js$/.test(basename(path));
files.sort((a, b) => Number(isChunk(b.path)) - Number(isChunk(a.path)));
for (const { path, text } of files) await replace(path, text);
await removeOldChunks(new Set(files.map(({ path }) => path)));
await linkCommand();
await noteBuild(sum, files);

/**
 * A script as it is loaded fastest. Where a default import is all that is wanted of one of node's own
 * modules, esbuild copies the module first; and signs beyond ASCII, which it leaves in patterns, make
 * node read the whole file as twice its size.
 */
function quickToLoad(/** @type {string} */ text) {
  for (const [, name = ''] of text.matchAll(/([\w$]+)=__toESM\(require\("node:[a-z/]+"\),1\)/g)) {
    const other = new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}\\.(?!default\\b)\\w+`);
    const [found] = other.exec(text) ?? [];
    if (found !== undefined) throw new Error(`${found} asks for more than a module's default`);
  }
  return text
    .replace(/__toESM\((require\("node:[a-z/]+"\)),1\)/g, '{default:$1}')
    .replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Writes a file in one step for whoever reads it, and not at all if it is already so.
 * @param {string} path
 * @param {string} text
 */
async function replace(path, text) {
  const current = await readFile(path, 'utf8').catch(() => undefined);
  if (current === text) return utimes(path, new Date(), new Date());
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

/**
 * The types of what programs import, and of nothing else. They are made without being checked, so
 * that a checkout with a mistake in it can still be tried; `npm run check` checks them. Those of the options get the
 * help of the settings.
 */
async function declarations() {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-types-'));
  try {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const words = [
      tsc,
      '--project',
      join(root, 'scripts', 'tsconfig.types.json'),
      '--outDir',
      folder,
    ];
    await promisify(execFile)(process.execPath, words);
    const texts = new Map();
    const { optionTypes } = await loadScript('option-types.ts');
    const wanted = ['index.d.ts'];
    for (const name of wanted) {
      if (texts.has(name)) continue;
      const isMade = name === join('service', 'setting-options.d.ts');
      const text = isMade ? optionTypes() : await readFile(join(folder, name), 'utf8');
      // The compiler leaves the names of sources in them, which are not in the package.
      texts.set(name, text.replace(/(['"]\.{1,2}\/[^'"\n]+)\.ts(?=['"])/g, '$1.js'));
      for (const [, target] of text.matchAll(/['"](\.{1,2}\/[^'"\n]+)\.ts['"]/g)) {
        wanted.push(join(dirname(name), `${target}.d.ts`));
      }
    }
    return [...texts].map(([name, text]) => ({ path: join(dist, 'types', name), text }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Set<string>} wanted */
async function removeOldChunks(wanted) {
  const keepMs = process.argv.includes('--clean') ? 0 : KEEP_OLD_CHUNKS_MS;
  for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || wanted.has(path)) continue;
    // Another build beside this one may have removed it first.
    const modifiedMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - modifiedMs >= keepMs) await rm(path, { force: true });
  }
}

/** Lets `npx ralph` in a checkout run this ralph: npm links a package's command only for others. */
async function linkCommand() {
  const folder = join(root, 'node_modules', '.bin');
  if (!existsSync(folder)) return;
  await symlink(join('..', '..', 'bin', 'ralph.js'), join(folder, 'ralph')).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/**
 * The licences of what is bundled have to travel with it.
 * @param {readonly string[]} inputs
 */
async function licences(inputs) {
  const packages = new Set(
    inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
  );
  const texts = [];
  for (const folder of [...packages].sort()) {
    const { name, version, license } = JSON.parse(
      await readFile(join(root, folder, 'package.json'), 'utf8'),
    );
    const file = (await readdir(join(root, folder))).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(join(root, folder, file), 'utf8') : `${license}\n`;
    texts.push(`${name} ${version}\n\n${text.trim()}\n`);
  }
  return `dist/ contains code of these packages.\n\n${texts.join('\n----\n\n')}`;
}

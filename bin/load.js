// Loads the built scripts, and keeps the compiled code of the large one, which halves ralph's start.
const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');
const vm = require('node:vm');

/*
 *   dist/run-HASH.cjs                      the code
 *   dist/compiled/run-HASH-v22.1.0-x64     [ SHA-256 of what follows | compiled code ]
 *
 * It lies beside the code that it is made of: whoever may write there could change the code as well.
 * Where ralph itself may not, there is none. V8 refuses what another V8 has made, but does not notice
 * a flaw in it, and would crash: therefore the sum.
 */
const DIST = path.join(__dirname, '..', 'dist');
const COMPILED = path.join(DIST, 'compiled');
const KEPT = /^run-/;
const SUM_BYTES = 32;

/** @type {{ script: vm.Script, file: string } | null} */
let worthKeeping = null;

/** The exports of a built script. */
function load(/** @type {string} */ name) {
  const file = path.join(DIST, name);
  const isKept = KEPT.test(name);
  const cachedData = isKept ? readCompiled(name) : undefined;
  // It is ASCII: see scripts/build.js.
  const text = fs.readFileSync(file, 'latin1');
  const script = new vm.Script(
    `(function(exports,require,module,__filename,__dirname){${text}\n})`,
    { filename: file, cachedData },
  );
  if (isKept && (cachedData === undefined || script.cachedDataRejected)) {
    worthKeeping = { script, file: compiledFile(name) };
  }
  const requireOutside = createRequire(file);
  const requireHere = (/** @type {string} */ wanted) =>
    wanted.startsWith('./') ? load(wanted.slice(2)) : requireOutside(wanted);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, requireHere, module, file, DIST);
  return module.exports;
}

/** Writes down what was compiled in this run, if there was none; to be called at its end. */
function keepCompiled(/** @type {readonly string[]} */ argv) {
  if (worthKeeping === null || !mayWrite(argv)) return;
  const { script, file } = worthKeeping;
  const temporary = `${file}.${process.pid}`;
  try {
    const code = script.createCachedData();
    fs.mkdirSync(COMPILED, { recursive: true });
    fs.writeFileSync(temporary, Buffer.concat([sumOf(code), code]));
    fs.renameSync(temporary, file);
  } catch {
    // Installed by somebody else, or the disk is full: the next start takes as long as this one.
    fs.rmSync(temporary, { force: true });
  }
}

/** A dry run touches nothing, not even here. */
function mayWrite(/** @type {readonly string[]} */ argv) {
  return !argv.includes('--dry-run') && process.env.RALPH_DRY_RUN === undefined;
}

function readCompiled(/** @type {string} */ name) {
  try {
    const bytes = fs.readFileSync(compiledFile(name));
    const code = bytes.subarray(SUM_BYTES);
    return sumOf(code).equals(bytes.subarray(0, SUM_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function compiledFile(/** @type {string} */ name) {
  const { version, arch } = process;
  return path.join(COMPILED, `${path.basename(name, '.cjs')}-${version}-${arch}`);
}

function sumOf(/** @type {Buffer} */ bytes) {
  const { createHash } = require('node:crypto');
  return createHash('sha256').update(bytes).digest();
}

module.exports = { load, keepCompiled };

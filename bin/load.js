// Loads the built scripts, and keeps their compiled code, which halves ralph's start.
const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');
const vm = require('node:vm');

/*
 *   dist/run-HASH.cjs                          the code
 *   dist/compiled/run-HASH-run-v22.1.0-x64     [ SHA-256 of what follows | endings | compiled code ]
 *
 * The code is that of all functions that have run, so each command has its own. A run that ends otherwise than
 * those before has run others: what is kept grows with each way to end.
 *
 * It lies beside the code that it is made of: whoever may write there could change the code as well.
 * Where ralph itself may not, there is none. V8 refuses what another V8 has made, but does not notice
 * a flaw in it, and would crash: therefore the sum.
 */
const DIST = path.join(__dirname, '..', 'dist');
const COMPILED = path.join(DIST, 'compiled');
/** `main` is too small to gain anything. */
const KEPT = /^(?!main\.)/;
/** The command that was typed, and one name for all options in its place. */
const COMMAND = /^[a-z]{1,20}$/.exec(process.argv[2] ?? '')?.[0] ?? 'other';
const SUM_BYTES = 32;
/** Four, and four so that the code begins where V8 need not copy it. */
const ENDINGS_BYTES = 8;
const EXIT_USAGE = 2;
/** V8 forgets the code of what has not run for long: what such a run keeps is better than nothing. */
const LONG_RUN_S = 60;

/** @type {{ script: vm.Script, file: string, isUsed: boolean, endings: number }[]} */
const kept = [];

const NOTHING_KEPT = { code: undefined, endings: 0 };

/** The exports of a built script. */
function load(/** @type {string} */ name) {
  const file = path.join(DIST, name);
  const isKept = KEPT.test(name);
  const { code: cachedData, endings } = isKept ? readCompiled(name) : NOTHING_KEPT;
  // It is ASCII: see scripts/build.js.
  const text = fs.readFileSync(file, 'latin1');
  const script = new vm.Script(
    `(function(exports,require,module,__filename,__dirname){${text}\n})`,
    { filename: file, cachedData },
  );
  const isUsed = cachedData !== undefined && !script.cachedDataRejected;
  if (isKept)
    kept.push({ script, file: compiledFile(name), isUsed, endings: isUsed ? endings : 0 });
  const requireOutside = createRequire(file);
  const requireHere = (/** @type {string} */ wanted) =>
    wanted.startsWith('./') ? load(wanted.slice(2)) : requireOutside(wanted);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, requireHere, module, file, DIST);
  return module.exports;
}

/** Writes down what was compiled in this run, if no run has ended so before; to be called at its end. */
function keepCompiled(/** @type {readonly string[]} */ argv, /** @type {number} */ exitCode) {
  // A word that is no command ends so, and nobody's words fill the disk.
  if (!mayWrite(argv) || exitCode === EXIT_USAGE) return;
  const isLong = process.uptime() > LONG_RUN_S;
  const ending = (1 << (exitCode % 32)) >>> 0;
  for (const { script, file, isUsed, endings } of kept) {
    if ((endings & ending) !== 0 || (isLong && isUsed)) continue;
    const head = Buffer.alloc(ENDINGS_BYTES);
    head.writeUInt32LE(isLong ? 0 : (endings | ending) >>> 0);
    if (!write(file, Buffer.concat([head, script.createCachedData()]))) return;
  }
}

/** Whether it could be written. */
function write(/** @type {string} */ file, /** @type {Buffer} */ bytes) {
  const temporary = `${file}.${process.pid}`;
  try {
    fs.mkdirSync(COMPILED, { recursive: true });
    fs.writeFileSync(temporary, Buffer.concat([sumOf(bytes), bytes]));
    fs.renameSync(temporary, file);
    return true;
  } catch {
    // Installed by somebody else, or the disk is full: the next start takes as long as this one.
    try {
      fs.rmSync(temporary, { force: true });
    } catch {
      // There was no way to it.
    }
    return false;
  }
}

/** A dry run touches nothing, not even here. */
function mayWrite(/** @type {readonly string[]} */ argv) {
  return !argv.includes('--dry-run') && process.env.RALPH_DRY_RUN === undefined;
}

/** @returns {{ code: Buffer | undefined, endings: number }} */
function readCompiled(/** @type {string} */ name) {
  try {
    const file = fs.readFileSync(compiledFile(name));
    const bytes = file.subarray(SUM_BYTES);
    if (!sumOf(bytes).equals(file.subarray(0, SUM_BYTES))) return NOTHING_KEPT;
    return { code: bytes.subarray(ENDINGS_BYTES), endings: bytes.readUInt32LE() };
  } catch {
    return NOTHING_KEPT;
  }
}

function compiledFile(/** @type {string} */ name) {
  const { version, arch } = process;
  return path.join(COMPILED, `${path.basename(name, '.cjs')}-${COMMAND}-${version}-${arch}`);
}

function sumOf(/** @type {Buffer} */ bytes) {
  const { createHash } = require('node:crypto');
  return createHash('sha256').update(bytes).digest();
}

module.exports = { load, keepCompiled };

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a timer of this folder in a process of its own, and returns what it printed as JSON. */
export function timeInProcess(
  /** @type {import('./scene.js').Scene} */ { env },
  /** @type {string} */ timer,
  /** @type {readonly string[]} */ args,
) {
  const [loader, program] = ['../run-typescript.js', `./${timer}`].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const { NODE_PATH = '' } = process.env;
  const argv = ['--import', `${loader}`, `${program}`, ...args];
  return JSON.parse(
    execFileSync(process.execPath, argv, { env: { ...env, NODE_PATH }, encoding: 'utf8' }),
  );
}

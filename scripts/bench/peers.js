import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { commitTree } from './rows/trees.js';
import { makeScene } from './scene.js';
import { cpuTimeInTurn, summary } from './timing.js';

/*
 * ralph beside its peers: `npm run bench -- --peers`. Each runs the same task once, in a git work tree of 1,000 files,
 * with the same agent, which is done at once. The versions are fixed, so that the table can be repeated.
 */

/**
 * Another program that runs an agent in a loop.
 * @typedef {{ name: string, version: string, bin: string, words: readonly string[] }} Peer
 */

/** @type {readonly Peer[]} */
const PEERS = [
  {
    ...{ name: 'ralphy-cli', version: '4.7.2', bin: 'ralphy' },
    words: ['--fast', '--no-commit', 'Go.'],
  },
  {
    ...{ name: 'ralph-starter', version: '0.5.2', bin: 'ralph-starter' },
    words: [
      ...['run', 'Go.', '--headless', '--no-auto-skills', '--agent', 'claude-code'],
      ...['--max-iterations', '3', '--completion-promise', 'TASK_COMPLETE', '--output-dir', '.'],
    ],
  },
  { name: 'ralph-tui', version: '0.11.0', bin: 'ralph-tui', words: ['run', '--headless'] },
];

/** An agent that every peer can start: it is called `claude`, and answers in the form that it is asked for. */
const CLAUDE = `case "$*" in
*--version*) echo '2.1.0 (Claude Code)';;
*stream-json*) echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"TASK_COMPLETE","total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1}}';;
*) echo TASK_COMPLETE;;
esac`;

/** Installs the peers, runs all in turn, and returns a table of the processor time of each. */
export function compareWithPeers(/** @type {number} */ runs) {
  const scene = makeScene();
  try {
    const tree = join(scene.root, 'tree');
    commitTree(scene, tree, 1_000);
    const programs = join(scene.root, 'programs');
    mkdirSync(programs);
    const agent = join(programs, 'claude');
    writeFileSync(agent, `#!/bin/sh\n${CLAUDE}\n`);
    chmodSync(agent, 0o755);
    // Nothing but this machine can be reached: what a peer would load or report costs nobody anything.
    const closed = 'http://127.0.0.1:9';
    const env = {
      ...scene.env,
      PATH: `${programs}${delimiter}${scene.env.PATH}`,
      ...{ HTTP_PROXY: closed, HTTPS_PROXY: closed, NO_UPDATE_NOTIFIER: '1' },
    };
    const commands = {
      node: scene.node(),
      agent: scene.program([agent, '-p']),
      ralph: scene.run({ agent, cwd: tree }),
    };
    const { found, missing } = installPeers(scene.root, tree, env);
    /** @type {Record<string, number>[]} */
    const rounds = cpuTimeInTurn(runs, { ...commands, ...found });
    const over = (/** @type {string} */ name) =>
      summary(
        rounds.map((round) => cpuOf(round, name) - cpuOf(round, 'node') - cpuOf(round, 'agent')),
      ).median.toFixed(0);
    const lines = ['ralph', ...Object.keys(found)].map(
      (name) => `${name.padEnd(22)} ${over(name).padStart(6)} ms`,
    );
    return [
      'Processor time of one run that is done at once, over bare node and its agent (median):',
      ...lines,
      ...missing,
    ].join('\n');
  } finally {
    scene.remove();
  }
}

function cpuOf(/** @type {Record<string, number>} */ round, /** @type {string} */ name) {
  return round[name] ?? Number.NaN;
}

/**
 * Installs each peer into a folder of its own, and runs it once. Those that do not install or do not do the task are
 * named in `missing`, with what they said.
 * @param {string} root
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
function installPeers(root, cwd, env) {
  /** @type {Record<string, import('./timing.js').Command>} */
  const found = {};
  /** @type {string[]} */
  const missing = [];
  for (const { name, version, bin, words } of PEERS) {
    const label = `${name} ${version}`;
    const prefix = join(root, name);
    mkdirSync(prefix);
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', prefix];
    const install = spawnSync('npm', ['install', ...flags, `${name}@${version}`], BOUNDED);
    const program = join(prefix, 'node_modules', '.bin', bin);
    if (install.status !== 0 || !existsSync(program)) {
      missing.push(`${label} was not installed: ${lastLine(install)}`);
      continue;
    }
    /** @type {[string, ...string[]]} */
    const argv = [program, ...words];
    const trial = spawnSync(program, words, { cwd, env, ...BOUNDED });
    if (trial.status === 0) found[label] = { argv, cwd, env, after: () => clean(cwd) };
    else missing.push(`${label} did not do the task: ${lastLine(trial)}`);
    clean(cwd);
  }
  return { found, missing };
}

/** @type {import('node:child_process').SpawnSyncOptionsWithStringEncoding} */
const BOUNDED = { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], timeout: 180_000 };

/** What a peer leaves in the work tree must not be in the way of the next one. */
function clean(/** @type {string} */ cwd) {
  for (const name of ['.ralph', '.ralphy', '.claude']) {
    rmSync(join(cwd, name), { recursive: true, force: true });
  }
}

function lastLine(/** @type {import('node:child_process').SpawnSyncReturns<string>} */ end) {
  const line = end.stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? (end.error?.message ?? `exit code ${end.status}`) : line;
}

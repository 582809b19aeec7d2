// Makes the pictures of the README: npm run pictures. Needs Linux (script(1) gives ralph a terminal) and,
// for the page, Chromium (apt-get install chromium) and git.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { TASKS } from './pictured-tasks.js';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const RALPH = join(ROOT, 'bin', 'ralph.js');
const PICTURES = join(ROOT, 'docs', 'pictures');
const COLUMNS = 80;
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);
/** What the picture calls the vault. */
const SHOWN_VAULT = '/srv/shop';

const scratch = mkdtempSync(join(tmpdir(), 'ralph-pictures-'));
try {
  mkdirSync(PICTURES, { recursive: true });
  await drawDemo();
  await drawReport();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** A real run of the demo on a terminal of 80 columns. */
async function drawDemo() {
  const { colouredTerminal, terminalSvg, textOf } = await loadDrawing();
  const terminal = colouredTerminal(COLUMNS);
  // One moment of each iteration, and the end.
  const moments = [/Write: greeting\.txt/, /Now I think/, /Read: greeting\.txt/];
  /** @type {ReturnType<typeof terminal.frame>[]} */
  const frames = [];
  await onTerminal('demo', (text) => {
    terminal.write(text);
    const seen = terminal.frame();
    if (moments[frames.length]?.test(textOf(seen))) frames.push(seen);
  });
  if (frames.length < moments.length) throw new Error('The demo has not shown what it should.');
  const svg = terminalSvg([...frames, terminal.frame()], {
    columns: COLUMNS,
    command: 'ralph demo',
    title:
      'ralph demo on a terminal: three iterations of an agent; the second only mentions its promise, the third states it, and the task is completed.',
  });
  writeFileSync(join(PICTURES, 'demo.svg'), svg);
}

/** The drawing is TypeScript with a part of ralph's own in it. */
async function loadDrawing() {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'scripts', 'draw-terminal.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  /** @type {Promise<typeof import('./draw-terminal.ts')>} */
  const drawing = import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`);
  return drawing;
}

/**
 * @param {string} command
 * @param {(text: string) => void} onText
 */
function onTerminal(command, onText) {
  const line = `stty rows 30 cols ${COLUMNS}; exec "${process.execPath}" "${RALPH}" ${command}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: scratch,
    env: { PATH: '/usr/bin:/bin', HOME: scratch, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', onText);
  return new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('script(1) of util-linux is needed.')));
    child.once('close', resolve);
  });
}

/** The page of `ralph report --html` over a few tasks that were really run, with a scripted agent. */
async function drawReport() {
  const browser = BROWSERS.find((file) => existsSync(file));
  if (browser === undefined) {
    throw new Error(
      `docs/pictures/report.png needs a browser without a window: apt-get install chromium. Looked for ${BROWSERS.join(', ')}.`,
    );
  }
  const vault = join(scratch, 'shop');
  mkdirSync(vault);
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: scratch,
    GIT_CONFIG_NOSYSTEM: '1',
    TZ: 'UTC',
  };
  writeFileSync(
    join(scratch, '.gitconfig'),
    '[user]\nname = Nobody\nemail = nobody@localhost\n[init]\ndefaultBranch = main\n',
  );
  for (const args of ['init --quiet', 'commit --quiet --allow-empty -m Start']) {
    execFileSync('git', args.split(' '), { cwd: vault, env });
  }
  for (const { id, args, prompt, turns } of TASKS) {
    const script = join(scratch, 'turns.json');
    writeFileSync(script, JSON.stringify(turns));
    run(['run', '--task-id', id, '--prompt', prompt, '--delay', '0', ...args], vault, {
      ...env,
      TURNS: script,
    });
    execFileSync('git', ['add', '--all'], { cwd: vault, env });
    execFileSync('git', ['commit', '--quiet', '--allow-empty', '-m', id], { cwd: vault, env });
  }
  stretchTimes(vault);
  const page = join(scratch, 'report.html');
  run(['report', '--since', '24h', '--html', page], vault, env);
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(vault, SHOWN_VAULT));
  const picture = join(PICTURES, 'report.png');
  execFileSync(
    browser,
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
      ...[`--user-data-dir=${join(scratch, 'profile')}`, '--window-size=980,1056'],
      ...[`--screenshot=${picture}`, `file://${page}`],
    ],
    { env: { HOME: scratch, PATH: '/usr/bin:/bin', TZ: 'UTC' }, stdio: 'ignore', timeout: 60_000 },
  );
  const { size } = statSync(picture);
  if (size > 200_000) throw new Error(`${picture} has ${size} bytes: 200,000 are the most.`);
}

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
function run(args, cwd, env) {
  const agent =
    args[0] === 'run' ? ['--claude-bin', join(ROOT, 'scripts', 'scripted-claude.js')] : [];
  try {
    execFileSync(process.execPath, [RALPH, ...args, ...agent], { cwd, env, stdio: 'pipe' });
  } catch (error) {
    // Some are to end otherwise than well; a command that was wrong is not.
    if (!(error instanceof Error && 'status' in error) || error.status === 2) throw error;
  }
}

/**
 * The scripted agent works in tenths of seconds: what is kept of each task is rewritten as if it had worked
 * for minutes, some hours ago.
 *
 * @param {string} vault
 */
function stretchTimes(vault) {
  const stateDir = join(vault, '.ralph_state');
  const journal = join(stateDir, 'events.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  for (const { id, hoursAgo, stretch } of TASKS) {
    const file = [join(stateDir, `${id}.json`), join(stateDir, 'history', `${id}.json`)].find(
      (each) => existsSync(each),
    );
    if (file === undefined) throw new Error(`${id} has left no state.`);
    const state = readFileSync(file, 'utf8');
    const began = Date.parse(JSON.parse(state).started_at);
    const shown = Date.now() - hoursAgo * 3_600_000;
    /** @param {string} text */
    const stretched = (text) =>
      text
        .replace(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (_, instant) => {
          const moved = shown + (Date.parse(instant) - began) * stretch;
          return `"${new Date(moved).toISOString()}"`;
        })
        .replace(
          /"(duration_ms|total_duration_seconds)":(\s*)([\d.]+)/g,
          (_, key, space, amount) => `"${key}":${space}${Math.round(amount * stretch)}`,
        );
    writeFileSync(file, stretched(state));
    for (const [index, line] of lines.entries()) {
      if (JSON.parse(line).task_id === id) lines[index] = stretched(line);
    }
  }
  lines.sort((a, b) => JSON.parse(a).at.localeCompare(JSON.parse(b).at));
  writeFileSync(journal, `${lines.join('\n')}\n`);
}

import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installedRalph } from './fleet-scene.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const BUILT_FROM = ['src', 'scripts', 'bin', 'package.json', 'tsconfig.json'];

/** What a later release changes: the schema of tasks, and the tables. */
const CHANGES = [
  ['src/fleet/core/fleet-task.ts', 'FLEET_SCHEMA = 1;', 'FLEET_SCHEMA = 2;'],
  [
    'src/fleet/database/migrations.ts',
    '];\n\n/** The version of the tables',
    "'alter table ralph.task add column newer int not null default 0',\n];\n\n/** The version of the tables",
  ],
  ['package.json', '"version": "0.1.0"', '"version": "99.0.0"'],
] as const;

/** Builds a ralph with a newer schema and newer tables beside the installed one. Returns its program. */
export async function buildNewerRalph(): Promise<string> {
  // Not below `node_modules`, where the compiler writes no types; pg-boss is found upward all the same.
  const folder = join(dirname(installedRalph()), '../../../ralph-newer');
  await mkdir(folder);
  for (const name of BUILT_FROM) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, from, to] of CHANGES) {
    const text = await readFile(join(folder, name), 'utf8');
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    await writeFile(join(folder, name), text.replace(from, to));
  }
  await promisify(execFile)(process.execPath, [join(folder, 'scripts', 'build.js')]);
  return join(folder, 'bin', 'ralph.js');
}

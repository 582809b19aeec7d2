import { spawnSync } from 'node:child_process';
import { fixture } from './processes.ts';
import type { Scene } from './scene.ts';

/** How a command line ended that was carried out among others. */
export interface LineEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The names in the working folder after it. */
  readonly left: readonly string[];
}

/**
 * Carries out lines that are to be refused, in one process of the built program: to start one for each
 * takes most of the time of such tests.
 */
export function refuseAll(scene: Scene, lines: readonly (readonly string[])[]): readonly LineEnd[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fixture('many-lines.cjs')], {
    cwd: scene.folder,
    env: scene.env,
    input: JSON.stringify(lines),
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`The lines ended with ${status}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

import { spawnSync } from 'node:child_process';
import { PATIENCE_MS } from './patience.ts';
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

/** A command line, and the scene in which it is carried out. */
export interface Line {
  readonly scene: Scene;
  readonly args: readonly string[];
}

/**
 * Carries out lines one after the other in one process of the built program: to start one for each takes most
 * of the time of such tests.
 */
export function carryOutAll(lines: readonly Line[]): readonly LineEnd[] {
  const input = lines.map(({ scene: { folder, env }, args }) => ({ args, cwd: folder, env }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [fixture('many-lines.cjs')], {
    env: {},
    input: JSON.stringify(input),
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  if (status !== 0) throw new Error(`The lines ended with ${status}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

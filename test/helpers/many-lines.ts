import { readdirSync } from 'node:fs';
import type { Scene } from './scene.ts';
import { carryOut, type SharedEnd } from './shared-process.ts';

/** How a command line ended that was carried out among others. */
export interface LineEnd extends SharedEnd {
  /** The names in the working folder after it. */
  readonly left: readonly string[];
}

/** A command line, and the scene in which it is carried out. */
export interface Line {
  readonly scene: Scene;
  readonly args: readonly string[];
}

/**
 * Carries out lines one after the other in one process, also where other lines have processes of their own: to start
 * one for each takes most of the time of such tests.
 */
export async function carryOutAll(lines: readonly Line[]): Promise<readonly LineEnd[]> {
  const ends: LineEnd[] = [];
  for (const { scene, args } of lines) {
    const end = await carryOut({ args, cwd: scene.folder, env: scene.env });
    ends.push({ ...end, left: readdirSync(scene.folder) });
  }
  return ends;
}

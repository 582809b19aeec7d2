import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './processes.ts';
import type { Scene } from './scene.ts';

/** Waits until a file lies below the scene's folder. */
export async function untilThere(scene: Scene, path: string): Promise<void> {
  await until(
    () => scene.has(path),
    () => `${path}; there is ${JSON.stringify(scene.names('.'))}`,
  );
}

/** Moves a file of the vault into one of its folders, as a person would. */
export function moveFile(scene: Scene, from: string, folder: string): void {
  mkdirSync(join(scene.folder, folder), { recursive: true });
  renameSync(join(scene.folder, from), join(scene.folder, folder, from.split('/').at(-1) ?? ''));
}

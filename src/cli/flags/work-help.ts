import type { Command } from 'commander';
import { notOfLists, WORK_SETTINGS } from '../../core/settings/work-settings.ts';
import { declareRow, declareSettings } from './flags.ts';

/** Declares the flags of `ralph work`: its own, and those for the tasks that it starts. */
export function declareWorkFlags(command: Command): Command {
  for (const row of Object.values(WORK_SETTINGS)) declareRow(command, row);
  return declareSettings(command, notOfLists());
}

import type { Command } from 'commander';

export const FLEET_HELP = 'the database of a fleet (default: RALPH_FLEET)';

/** Adds the flags that name the folders of the task. */
export function placed(command: Command): Command {
  return command
    .option(
      '--vault <DIR>',
      'the folder with .ralph_state (default: the nearest in this git work tree, or here)',
    )
    .option('--state-dir <DIR>', 'where states are kept (default: .ralph_state in the vault)')
    .option('--key-file <FILE>', 'the key of a shared vault (default: your own)');
}

/** Adds the flags that name a vault (a folder with tasks) or a fleet (a database of tasks). */
export function inVaultOrFleet(command: Command): Command {
  return placed(command).option('--fleet <URL>', FLEET_HELP);
}

/** Collects the values of a flag that may be repeated. */
export function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

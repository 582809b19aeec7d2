import { readChecks } from '../../core/settings/checks.ts';
import { type SettingName, settingsWith } from '../../core/settings/settings.ts';
import type { StoredSetting } from '../../core/settings/stored-run.ts';
import type { FleetSpec } from './fleet-task.ts';
import type { WorkerPolicy } from './worker-policy.ts';

/** The settings that hold a single command, besides `--verify` and `--setup`. */
export const COMMANDS_OF_TASK = settingsWith({ rescue: 'program', fleet: 'stored' }).filter(
  (name) => name !== 'verify',
);

/** Returns the command line that a policy has under a name such as `@test`; null if it has none. */
export function commandNamed(text: string, { commands }: WorkerPolicy): string | null {
  if (typeof commands === 'string' || !text.startsWith('@')) return null;
  return commands.get(text.slice(1)) ?? null;
}

/**
 * Returns a task in which names such as `@test` are replaced with the policy's command lines. It is meant for a task
 * that the policy allows: unknown names stay as they are.
 */
export function withNamedCommands(spec: FleetSpec, policy: WorkerPolicy): FleetSpec {
  if (typeof policy.commands === 'string') return spec;
  const filled = (text: string): string => commandNamed(text, policy) ?? text;
  const settings: Partial<Record<SettingName, StoredSetting>> = { ...spec.settings };
  for (const name of COMMANDS_OF_TASK) {
    const stored = settings[name];
    if (typeof stored?.value !== 'string') continue;
    settings[name] = { ...stored, value: filled(stored.value) };
  }
  const { verify } = settings;
  const checks = verify === undefined ? null : readChecks(verify.value);
  if (verify !== undefined && checks !== null) {
    const value = checks.map(({ name, command }) => ({ name, command: filled(command) }));
    settings.verify = { ...verify, value };
  }
  return { ...spec, settings, setup: spec.setup === null ? null : filled(spec.setup) };
}

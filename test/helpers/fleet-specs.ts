import { resolveSettings } from '../../src/core/settings/resolve-settings.ts';
import type { Layer, Written } from '../../src/core/settings/setting-source.ts';
import { SETTINGS, type SettingName } from '../../src/core/settings/settings.ts';
import { fleetSpec, withFleetDefaults } from '../../src/fleet/core/fleet-spec.ts';
import type { FleetSpec } from '../../src/fleet/core/fleet-task.ts';

/** Settings as flags would give them. */
export function flagLayer(values: Readonly<Partial<Record<SettingName, unknown>>>): Layer {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, Written] => [
      name,
      { value, source: { kind: 'flag', where: SETTINGS[name as SettingName].flag } },
    ]),
  );
}

/** A task with these settings, as `ralph submit` would write it. */
export function specWith(
  values: Readonly<Partial<Record<SettingName, unknown>>> = {},
  others: Partial<FleetSpec> = {},
): FleetSpec {
  const { settings, sources, problems } = resolveSettings([flagLayer(values)]);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const task = {
    ...withFleetDefaults({ settings, sources }),
    ...{ taskId: 't', prompt: 'Fix it', taskType: 'default', passthrough: [] },
  };
  const place = {
    ...{ repo: 'https://example.com/acme/app.git', subdir: null, branch: 'ralph/t' },
    ...{ priority: 0, account: 'default', queue: 'default' },
  };
  return { ...fleetSpec(task, place), ...others };
}

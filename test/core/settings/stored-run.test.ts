import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { SettingKind } from '../../../src/core/settings/rows/setting-row.ts';
import { layerOf } from '../../../src/core/settings/setting-source.ts';
import { SETTINGS, settingNames } from '../../../src/core/settings/settings.ts';
import { fromStored, storedSettings } from '../../../src/core/settings/stored-run.ts';
import { stored } from '../../helpers/stored.ts';

function example(type: SettingKind): unknown {
  switch (type.kind) {
    case 'text':
    case 'command':
      return 'some text';
    case 'texts':
      return ['one', 'two'];
    case 'checks':
      return { unit: 'npm test', lint: 'npm run lint' };
    case 'count':
      return 7;
    case 'duration':
      return 93_500;
    case 'size':
      return 3_000_001;
    case 'cost':
      return 0.30000000000000004;
    case 'percent':
      return 85.5;
    case 'choices':
      return type.choices.slice(0, 2);
    case 'agent-texts':
      return { claude: 'one', codex: 'two' };
    case 'choice':
      return type.choices.at(-1);
    case 'switch':
      return true;
  }
}

describe('stored settings', () => {
  test('are read with the same values and sources', () => {
    const values = settingNames().map((name) => [name, example(SETTINGS[name].type)]);
    const layer = layerOf(Object.fromEntries(values), (name) => ({
      kind: 'config',
      where: `ralph.config.yaml:1 ${name}`,
    }));
    for (const resolved of [resolveSettings([layer]), resolveSettings([])]) {
      const { settings, sources } = resolved;
      const json = JSON.stringify(storedSettings(resolved));
      expect(fromStored(JSON.parse(json))).toEqual({ settings, sources });
    }
  });

  test('with invalid values get their defaults', () => {
    const wrong = stored({
      verify: 7,
      confirm: 'often',
      signal: [1, 'ready'],
      iteration_timeout: -1,
      agent: 'robot',
      max_iterations: null,
    });
    const { settings, sources } = resolveSettings([]);
    expect(wrong).toEqual({ settings, sources });
    expect(fromStored({})).toEqual({ settings, sources });
  });
});

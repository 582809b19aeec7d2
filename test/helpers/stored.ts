import type { SourcedSettings } from '../../src/core/settings/setting-source.ts';
import { fromStored } from '../../src/core/settings/stored-run.ts';

/** Settings as they are read back where `settings.json` contains these values, each given by a flag. */
export function stored(values: Readonly<Record<string, unknown>>): SourcedSettings {
  const entries = Object.entries(values).map(([key, value]) => [
    key,
    { value, source: `--${key.replaceAll('_', '-')}`, from: 'flag' },
  ]);
  return fromStored(Object.fromEntries(entries));
}

import type { Layer, Sources } from './setting-source.ts';
import { keyOf, powerfulSettings, type SettingName } from './settings.ts';

/** A setting that needs trust, as a configuration file writes it. */
export interface Power {
  readonly name: SettingName;
  /** As it is called in the file: `on_end`. */
  readonly key: string;
  readonly value: unknown;
}

/** The settings of a configuration that need trust, in the order of the help. */
export function powersOf(config: Layer): readonly Power[] {
  return powerfulSettings().flatMap((name) => {
    const written = config[name];
    const key = keyOf(name);
    return written === undefined || key === null ? [] : [{ name, key, value: written.value }];
  });
}

/** Of these the ones that count: a flag or a variable may have overridden the others. */
export function powersInForce(powers: readonly Power[], sources: Sources): readonly Power[] {
  return powers.filter(({ name }) => sources[name].kind === 'config');
}

// The door to configuration files, and to a person's decisions about those that were found.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export {
  type ConfigText,
  configPlaces,
  findConfig,
  readFoundConfig,
  readNamedConfig,
} from '../effects/plan/config-search.ts';
export {
  noteTrust,
  revokeTrust,
  trustedAmong,
  trustStanding,
} from '../effects/plan/trust-store.ts';

// The door to the YAML reader; a separate file because the parser takes long to load.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { parseYaml } from '../effects/files/yaml-document.ts';

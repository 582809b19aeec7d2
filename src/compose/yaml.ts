// The door to the effects for whoever reads YAML; a file of its own, since the parser is large to load.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { parseYaml } from '../effects/files/yaml-document.ts';

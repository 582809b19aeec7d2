// The door to the effects for the commands around a run: `init` and `doctor`.

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { liesIn, makeVaultFolders, type SetUp, writeNewConfig } from '../effects/vault-setup.ts';

import type { Snapshots } from '../loop/ports.ts';

/** For a folder without a repository, and for `--no-snapshots`. */
export const NO_SNAPSHOTS: Snapshots = {
  before: async () => {},
  after: async () => {},
};

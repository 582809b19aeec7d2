import { isBuilt } from './last-build.js';

/** The end-to-end tests run what is in dist/: it has to be built from the source of now. */
export async function setup() {
  if (!(await isBuilt())) await import('./build.js');
}

import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where all tests of this user keep their key: never that of whoever runs them. */
export const STATE_HOME = join(tmpdir(), `ralph-tests-${process.getuid?.() ?? 0}`, 'state');

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSource } from '../../../src/compose/lists/list-source.ts';
import { newListState } from '../../../src/core/list/list-state.ts';
import { writeListFile } from '../../../src/effects/lists/list-file.ts';
import { saveListState } from '../../../src/effects/lists/list-states.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const state = newListState({ list: 'a', file: '/a.md', sections: [] });

test.for<[name: string, write: (folder: string) => Promise<unknown>, says: RegExp]>([
  ['the list', (folder) => writeListFile(join(folder, 'a.md'), ''), /a\.md cannot be written \(/],
  [
    'its state',
    (folder) => saveListState({ stateDir: folder, keyFile: join(folder, 'key') }, state),
    /lists\/a\.json cannot be written \(/,
  ],
  [
    'what the list was when the run began',
    async (folder) =>
      fileSource({ file: join(folder, 'a.md'), shown: 'a.md', sections: [] }).read(state),
    /a\.md cannot be read: it is no file/,
  ],
])(
  'where %s cannot be reached, that is no bug and no wrong command line',
  async ([, write, says]) => {
    const folder = await tempFolder();
    mkdirSync(join(folder, 'a.md'));
    writeFileSync(join(folder, 'lists'), '');
    await expect(write(folder)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(says),
    });
  },
);

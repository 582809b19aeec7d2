import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { knownLists } from '../../../src/compose/lists/list-keeper.ts';
import { newListState } from '../../../src/core/list/list-state.ts';
import { saveListState } from '../../../src/effects/lists/list-states.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test.for([
  ['while an agent works, which may have ticked it', '- [ ] one\n', 'open'],
  ['once none works', null, 'done'],
] as const)('the stand of a list %s', async ([, before, standing]) => {
  const folder = await tempFolder();
  const file = join(folder, 'a.md');
  writeFileSync(file, '- [x] one\n');
  const place = { stateDir: folder, keyFile: join(folder, 'key') };
  await saveListState(place, { ...newListState({ list: 'a', file, sections: [] }), before });
  expect(knownLists(place)[0]?.list?.items).toMatchObject([{ id: 'one', standing }]);
});

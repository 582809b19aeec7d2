import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { SourceKind } from '../../../src/core/settings/setting-source.ts';
import { withCriteria } from '../../../src/effects/plan/criteria-file.ts';
import { flagLayer } from '../../helpers/fleet-specs.ts';

function frozen(text: string | null, judge: string | null, kind: SourceKind) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-criteria-'));
  if (text !== null) writeFileSync(join(folder, 'done.md'), text);
  const given = resolveSettings([flagLayer({ criteria: 'done.md', judge })]);
  const criteria = { ...given.sources.criteria, kind };
  const problems: string[] = [];
  const asked = { settings: given.settings, sources: { ...given.sources, criteria } };
  const { settings } = withCriteria(asked, (name) => join(folder, name), problems);
  return { criteria: settings.criteria, criterion: settings.criterion, problems: problems.length };
}

test.each([
  ['with a judge', '- it adds\n', 'codex', 'flag', null, ['it adds'], 0],
  ['from a configuration, without a judge', '- it adds\n', null, 'config', null, ['it adds'], 0],
  ['not from a flag that is a mistake', '- it adds\n', null, 'flag', 'done.md', [], 0],
  ['not without a file', null, null, 'config', 'done.md', [], 0],
  ['not with a judge and without a file', null, 'codex', 'config', 'done.md', [], 1],
] as const)(
  'criteria are read at the start: %s',
  (_, text, judge, kind, criteria, criterion, problems) => {
    expect(frozen(text, judge, kind)).toEqual({ criteria, criterion, problems });
  },
);

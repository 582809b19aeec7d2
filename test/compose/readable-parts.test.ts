import { expect, test } from 'vitest';
import { readableParts } from '../../src/compose/agent.ts';
import { logReader, openBoundedLog } from '../../src/effects/logs/bounded-log.ts';
import { pinFolder } from '../../src/effects/trust/pinned-folder.ts';
import { agentOptions } from '../helpers/agent-options.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

test('a part is read as what its agent wrote, though much was left out before it', async () => {
  const folder = await tempFolder();
  const write = (text: string): number => {
    const log = openBoundedLog(pinFolder(folder), 'log', 8 * 1024);
    log.write(Buffer.from(text));
    log.close();
    return log.openedAt;
  };
  write('{"is": "text of a command"}\n'.repeat(2_000));
  const text = { type: 'item.completed', item: { type: 'agent_message', text: 'Hello.' } };
  const from = write(`${JSON.stringify(text)}\n`);
  const { settings, ...rest } = agentOptions();
  const parts = readableParts(() => [{ agent: 'codex', from }], 'command', {
    ...rest,
    settings: { ...settings, model: [], agentBin: [], verify: [], until: null } as never,
  });
  const items = [];
  for (const { chunk, at } of logReader()(`${folder}/log`)) items.push(...parts.push(chunk, at));
  items.push(...parts.end());
  expect(items.at(-1)).toEqual({ kind: 'text', text: 'Hello.' });
  expect(items.filter(({ kind }) => kind === 'text')).toHaveLength(1);
});

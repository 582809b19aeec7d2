import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandInTree } from '../../../src/effects/plan/command-in-tree.ts';

const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'ralph-tree-')));
const tree = path.join(home, 'tree');

beforeAll(() => {
  mkdirSync(path.join(tree, 'sub'), { recursive: true });
  for (const file of ['tree/tell.sh', 'tree/sub/in.sh', 'outside.sh']) {
    writeFileSync(path.join(home, file), '');
  }
});
afterAll(() => rmSync(home, { recursive: true }));

describe.for([false, true])('in a git work tree: %s', (isGit) => {
  beforeAll(() => {
    if (isGit) mkdirSync(path.join(tree, '.git'), { recursive: true });
    else rmSync(path.join(tree, '.git'), { recursive: true, force: true });
  });

  test.for<[command: string, found: string]>([
    ['sh tell.sh', 'tell.sh'],
    ['sh tell.sh|cat', 'tell.sh'],
    ['sh ./tell.sh;true', './tell.sh'],
    ['. ./tell.sh>/dev/null', './tell.sh'],
    ['(./tell.sh)', './tell.sh'],
    ['sh -c "sh tell.sh"', 'tell.sh'],
    [`sh -c "sh -c 'sh ./tell.sh;true'"`, './tell.sh'],
    ['sh "$PWD/tell.sh"', './tell.sh'],
    [`sh "\${PWD}/sub/in.sh"`, './sub/in.sh'],
    ['node --import=./tell.sh', './tell.sh'],
    ['echo $(./tell.sh)', './tell.sh'],
    ["echo 'a|b' ; sh tell.sh", 'tell.sh'],
    [`sh ${path.join(tree, 'tell.sh')}`, path.join(tree, 'tell.sh')],
    ['npm run -s x', 'npm run'],
    ['npm --silent run x', 'npm --silent run'],
    ['pnpm close', 'pnpm'],
    ['cd /opt && make close', 'make'],
    ['A=1 exec npx told', 'npx'],
    ['sh -c "bun run x"', 'bun run'],
  ])('%s names something of the tree', ([command, found]) => {
    expect(commandInTree(command, tree, tree)).toBe(found);
  });

  test.for([
    'gh issue close "$RALPH_ITEM_ID"',
    'gh issue comment "$RALPH_ITEM_ID" --body "make it with npm run x"',
    'my-tracker close tell',
    'sh ../outside.sh',
    "echo 'no end",
    'bd ready --json',
    'npm view x',
    'sub',
  ])('%s names nothing of the tree', (command) => {
    expect(commandInTree(command, tree, tree)).toBe(null);
  });
});

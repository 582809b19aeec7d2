import { describe, expect, test, vi } from 'vitest';
import { countBirths, listProcesses } from '../../../src/effects/processes/process-table.ts';
import { createTree } from '../../../src/effects/processes/process-tree.ts';
import {
  createTreeWatch,
  type TreeWatchOptions,
} from '../../../src/effects/processes/tree-watch.ts';
import {
  fixture,
  mustRead,
  startFixture,
  startProgram,
  untilDead,
  untilReady,
} from '../../helpers/processes.ts';

// Looks only when it is asked to, so that each test decides what was noted when.
const asked = { schedule: () => () => {} };
const noMarker = { marker: 'carried by nobody' };

function watch(rootPid: number, options: Partial<TreeWatchOptions> = {}) {
  return createTreeWatch({ rootPid, ...noMarker, ...asked, ...options });
}

function pidsOf(processes: readonly { pid: number }[]): number[] {
  return processes.map(({ pid }) => pid);
}

describe.skipIf(process.platform !== 'linux')('a process tree', () => {
  test('has the agent and a tool in a session of its own', async () => {
    const { stdout } = startFixture('agent-with-tool.sh');
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const tree = watch(agent);
    expect(pidsOf(tree.sweep().members)).toEqual([agent, tool]);
    expect(tree.agentGroup).toBe(agent);
    expect(tree.sweep().ownGroups).toEqual(new Set([agent, tool]));
  });

  test('is swept again once something was born', async () => {
    const { pid } = startProgram('sleep', ['60']);
    let births: number | null = 5;
    let look = (): void => {};
    const told: (readonly number[])[] = [];
    watch(pid, {
      ...{ birthsBefore: 4, births: () => births, onChange: (found) => told.push(pidsOf(found)) },
      schedule: (callback) => {
        look = callback;
        return () => {};
      },
    });
    look();
    process.kill(pid, 'SIGKILL');
    await untilDead(pid);
    look();
    expect(told).toEqual([[pid]]);
    births = 6;
    look();
    expect(told).toEqual([[pid], []]);
  });

  test('keeps an orphan that was noted while it had its parent', async () => {
    const { stdout, stdin } = startFixture('agent-with-plain-tool.sh');
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const noting = watch(agent);
    const late = watch(agent);
    noting.sweep();
    stdin?.end();
    await untilDead(agent);
    expect(pidsOf(noting.sweep().members)).toEqual([tool]);
    expect(pidsOf(late.sweep().members)).toEqual([]);
  });

  test('finds an orphan that was never noted by its marker', async () => {
    const env = { ...process.env, RALPH_RUN_ID: 'tree-test-1' };
    const { stdout, stdin } = startFixture('agent-with-dev-server.sh', [], { env });
    const { agent, server } = await untilReady(stdout, 'agent', 'server');
    const marked = watch(agent, { marker: 'tree-test-1' });
    const another = watch(agent, { marker: 'tree-test-10' });
    stdin?.end();
    await untilDead(agent);
    expect(pidsOf(marked.sweep().members)).toContain(server);
    expect(pidsOf(another.sweep().members)).toEqual([]);
  });

  test('finds an orphan with neither parent nor marker by the session it shares', async () => {
    const { stdout } = startFixture('agent-with-daemon.sh');
    const { agent, tool, orphan } = await untilReady(stdout, 'agent', 'tool', 'orphan');
    expect(mustRead(orphan).ppid).not.toBe(tool);
    expect(pidsOf(watch(agent).sweep().members).sort()).toEqual([agent, tool, orphan].sort());
  });

  test('finds a newborn whose session everybody it was known by has left since the last look', async () => {
    const { stdout } = startFixture('agent-with-dev-server.sh');
    const { server } = await untilReady(stdout, 'server');
    const tree = createTree({ seeds: [mustRead(server)], marker: null, since: null });
    tree.sweep();
    process.kill(server, 'SIGUSR1');
    const { worker } = await untilReady(stdout, 'worker');
    process.kill(server, 'SIGKILL');
    await untilDead(server);
    expect(pidsOf(tree.sweep().members)).toContain(worker);
  });

  test('never has this process, its ancestors, or who is named as never', async () => {
    const { stdout } = startFixture('wrapper.sh');
    const { wrapper, agent } = await untilReady(stdout, 'wrapper', 'agent');
    const everybody = { seeds: listProcesses(), marker: null, since: null };
    const { members, ownGroups } = createTree({ ...everybody, neverPids: [agent] }).sweep();
    expect(pidsOf(members)).toContain(wrapper);
    for (const never of [process.pid, process.ppid, 1, agent]) {
      expect(pidsOf(members)).not.toContain(never);
    }
    // A signal to such a group would hit them.
    expect(ownGroups.has(mustRead(process.pid).pgid)).toBe(false);
    expect(ownGroups.has(wrapper)).toBe(false);
  });

  test('has nobody who is older than the agent', async () => {
    const { pid, stdout } = startFixture('stubborn.sh');
    await untilReady(stdout, 'agent');
    const seed = mustRead(pid);
    const later = String(Number(seed.startedAt) + 1);
    expect(createTree({ seeds: [seed], marker: null, since: later }).sweep().members).toEqual([]);
  });

  test('does not take over a session whose leader is a stranger', async () => {
    const script = 'echo "ready stranger=$$"; RALPH_RUN_ID=tree-test-3 sh "$0" tool; read -r _';
    const { stdout } = startProgram('/bin/sh', ['-c', script, fixture('stubborn.sh')]);
    const { stranger, tool } = await untilReady(stdout, 'stranger', 'tool');
    const since = mustRead(stranger).startedAt;
    const { members, ownGroups } = createTree({ seeds: [], marker: 'tree-test-3', since }).sweep();
    expect(pidsOf(members)).toEqual([tool]);
    expect(ownGroups).toEqual(new Set());
  });

  test('does not take a pid that another process has by now', async () => {
    const { pid, stdout } = startFixture('agent-with-tool.sh');
    await untilReady(stdout, 'agent', 'tool');
    const tree = createTree({ seeds: [{ pid, startedAt: '1' }], marker: null, since: null });
    expect(tree.sweep().members).toEqual([]);
  });

  test('has no zombies', async () => {
    const { stdout } = startFixture('zombie-parent.sh');
    const { parent, zombie } = await untilReady(stdout, 'parent', 'zombie');
    await untilDead(zombie);
    expect(pidsOf(watch(parent).sweep().members)).toEqual([parent]);
  });

  test('spares what an earlier iteration left, and what that has started since', async () => {
    const env = { ...process.env, RALPH_RUN_ID: 'tree-test-2' };
    const first = startFixture('agent-with-dev-server.sh', [], { env });
    const { agent: firstAgent, server } = await untilReady(first.stdout, 'agent', 'server');
    const earlier = mustRead(server);
    first.stdin?.end();
    await untilDead(firstAgent);
    const second = startFixture('stubborn.sh', ['agent'], { env });
    const { agent } = await untilReady(second.stdout, 'agent');
    process.kill(server, 'SIGUSR1');
    const { worker } = await untilReady(first.stdout, 'worker');

    const sparing = watch(agent, { marker: 'tree-test-2', exempt: () => [earlier] });
    expect(pidsOf(sparing.sweep().members)).toEqual([agent]);
    const unsparing = watch(agent, { marker: 'tree-test-2' });
    expect(pidsOf(unsparing.sweep().members)).toContain(worker);
  });

  test('names leftovers on one line each, without the agent and without credentials', async () => {
    const script =
      'exec 4<&0; setsid sh -c \'echo "ready tool=$$"; read -r _\' "$0" <&4 & read -r _';
    const name = `\u001b[31m two\nlines ftp://me:${'p'.repeat(200)}@host ${'x'.repeat(200)}`;
    const birthsBefore = countBirths();
    const { pid, stdout } = startProgram('/bin/sh', ['-c', script, name]);
    const { tool } = await untilReady(stdout, 'tool');
    const leftovers = watch(pid, { birthsBefore }).leftovers();
    expect(leftovers).toMatchObject([{ pid: tool, startedAt: mustRead(tool).startedAt }]);
    expect(leftovers[0]?.command).toMatch(
      /^sh -c echo "ready tool=\$\$"; read -r _ two lines ftp:\/\/me:…\[masked\]@host x+…$/,
    );
    expect(leftovers[0]?.command).toHaveLength(120);
  });

  test('looks by itself, soon at first, and tells what has changed until it is stopped', async () => {
    const { stdout, stdin } = startFixture('agent-with-plain-tool.sh');
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const calls: { callback: () => void; delayMs: number }[] = [];
    const cancel = vi.fn();
    const told: number[][] = [];
    const tree = watch(agent, {
      pollMs: 150,
      schedule(callback, delayMs) {
        calls.push({ callback, delayMs });
        return cancel;
      },
      onChange: (members) => told.push(pidsOf(members)),
    });
    for (let look = 0; look < 3; look++) calls.at(-1)?.callback();
    expect(calls.map(({ delayMs }) => delayMs)).toEqual([50, 100, 150, 150]);
    expect(told).toEqual([[agent], [agent, tool]]);

    stdin?.end();
    await untilDead(agent);
    calls.at(-1)?.callback();
    expect(told).toEqual([[agent], [agent, tool], [tool]]);
    tree.stop();
    expect(cancel).toHaveBeenCalledOnce();
    calls.at(-1)?.callback();
    expect(calls).toHaveLength(5);
  });

  test('is empty for an agent that is gone already', () => {
    expect(watch(2 ** 22 + 1)).toMatchObject({ agentGroup: null });
    expect(watch(2 ** 22 + 1).sweep().members).toEqual([]);
  });
});

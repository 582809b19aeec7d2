import { describe, expect, test } from 'vitest';
import {
  type EndSignal,
  endLeftovers,
  endTree,
} from '../../../src/effects/processes/end-process.ts';
import { type ProcessEntry, readProcess } from '../../../src/effects/processes/process-table.ts';
import type { ProcessTree } from '../../../src/effects/processes/process-tree.ts';
import { createTreeWatch } from '../../../src/effects/processes/tree-watch.ts';
import { isDead, startFixture, untilDead, untilLine, untilReady } from '../../helpers/processes.ts';

function watch(rootPid: number, marker = 'carried by nobody') {
  return createTreeWatch({ rootPid, marker, schedule: () => () => {} });
}

describe('the escalation', () => {
  const entry = (pid: number, pgid: number): ProcessEntry => ({
    pid,
    pgid,
    ppid: 1,
    sessionId: pgid,
    ticks: 0,
    startedAt: '5',
    state: 'S',
  });
  const agent = [entry(100, 100), entry(101, 100)];
  const tool = [entry(200, 200), entry(201, 200)];
  const inForeignGroup = entry(300, 42);

  /** Time that passes only from one planned call to the next, and a tree that dies as it is told. */
  function stage(members: readonly ProcessEntry[], agentGroup: number | null = 100) {
    let nowMs = 0;
    let living = members;
    const planned: { atMs: number; callback: () => void }[] = [];
    const sent: [atMs: number, signal: EndSignal, target: number][] = [];
    const deaths = new Map<EndSignal, readonly ProcessEntry[]>();
    const tree: ProcessTree = {
      agentGroup,
      sweep: () => ({ members: living, ownGroups: new Set([100, 200]) }),
    };
    const options = {
      clock: () => nowMs,
      schedule(callback: () => void, delayMs: number) {
        const call = { atMs: nowMs + delayMs, callback };
        planned.push(call);
        return () => planned.splice(planned.indexOf(call), 1);
      },
      kill(target: number, signal: EndSignal) {
        sent.push([nowMs, signal, target]);
        const dying = deaths.get(signal) ?? [];
        living = living.filter((member) => !dying.includes(member));
      },
    };
    function playUntil(untilMs = Number.POSITIVE_INFINITY) {
      for (let call = planned[0]; call && call.atMs <= untilMs; call = planned[0]) {
        planned.shift();
        nowMs = call.atMs;
        call.callback();
      }
    }
    return {
      tree,
      options,
      sent,
      playUntil,
      dies: (signal: EndSignal, who: readonly ProcessEntry[]) => deaths.set(signal, who),
      delay: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  test('interrupts twice, terminates, kills again and again, and names who survived', async () => {
    const everyone = [...agent, ...tool, inForeignGroup];
    const { tree, options, sent, playUntil } = stage(everyone);
    const ending = endTree(tree, options);
    playUntil();
    expect(sent.filter(([atMs]) => atMs <= 3050)).toEqual([
      [0, 'SIGINT', -100],
      [700, 'SIGINT', -100],
      [2000, 'SIGTERM', -100],
      [2000, 'SIGTERM', -200],
      [2000, 'SIGTERM', 300],
      [3000, 'SIGKILL', -100],
      [3000, 'SIGKILL', -200],
      [3000, 'SIGKILL', 300],
      [3050, 'SIGKILL', -100],
      [3050, 'SIGKILL', -200],
      [3050, 'SIGKILL', 300],
    ]);
    expect(sent.at(-1)?.[0]).toBeLessThan(5000);
    await ending.done;
  });

  test('is over as soon as nothing is alive', async () => {
    const { tree, options, sent, playUntil, dies } = stage(agent);
    dies('SIGINT', agent);
    const ending = endTree(tree, options);
    playUntil();
    expect(sent).toEqual([[0, 'SIGINT', -100]]);
    await ending.done;
  });

  test('does not wait for an agent that is gone before it terminates what it left', async () => {
    const { tree, options, sent, playUntil, dies } = stage([...agent, ...tool]);
    dies('SIGINT', agent);
    endTree(tree, options);
    playUntil(1050);
    expect(sent).toEqual([
      [0, 'SIGINT', -100],
      [50, 'SIGTERM', -200],
      [1050, 'SIGKILL', -200],
    ]);
  });

  test('gives each signal its time when its own rounds come late', () => {
    const { tree, options, sent, playUntil, delay } = stage(agent);
    endTree(tree, options);
    delay(60_000);
    playUntil(50);
    playUntil(60_200);
    expect(sent.map(([, signal]) => signal).slice(0, 4)).toEqual([
      'SIGINT',
      'SIGINT',
      'SIGTERM',
      'SIGKILL',
    ]);
  });

  test('kills at once when told to, and goes on looking', async () => {
    const { tree, options, sent, playUntil } = stage(agent);
    const ending = endTree(tree, options);
    playUntil(100);
    ending.killNow();
    playUntil();
    expect(sent.slice(0, 3)).toEqual([
      [0, 'SIGINT', -100],
      [100, 'SIGKILL', -100],
      [150, 'SIGKILL', -100],
    ]);
    await ending.done;
    const sentSoFar = sent.length;
    ending.killNow();
    expect(sent).toHaveLength(sentSoFar);
  });

  test('survives processes that are gone or belong to somebody else', async () => {
    const { tree, options, playUntil } = stage(agent);
    const kill = () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    };
    const ending = endTree(tree, { ...options, kill });
    playUntil();
    await ending.done;
  });

  test('never signals the groups that kill(2) takes for everybody', () => {
    const { tree, options, sent } = stage([entry(400, 0), entry(401, 1)], null);
    const everywhere = { ...tree, sweep: () => ({ ...tree.sweep(), ownGroups: new Set([0, 1]) }) };
    endTree(everywhere, options).killNow();
    expect(new Set(sent.map(([, , target]) => target))).toEqual(new Set([400, 401]));
  });

  test('believes that nothing is alive only at the second look running', () => {
    const { tree, options, sent } = stage(agent);
    let looks = 0;
    const blinking: ProcessTree = {
      agentGroup: 100,
      sweep() {
        looks += 1;
        return looks === 1 ? { members: [], ownGroups: new Set() } : tree.sweep();
      },
    };
    endTree(blinking, options);
    expect(sent).toEqual([[0, 'SIGINT', -100]]);
  });

  test('has nothing to do where nothing is alive', async () => {
    const { tree, options, sent } = stage([]);
    await endTree(tree, options).done;
    expect(sent).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('ending real processes', () => {
  test('leaves nothing of an agent and a tool of its own session that ignore everything', async () => {
    const { stdout } = startFixture('agent-with-tool.sh');
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    await endTree(watch(agent)).done;
    expect([agent, tool].map(isDead)).toEqual([true, true]);
  });

  test('leaves nothing of orphans without an environment that were noted', async () => {
    const { stdout, stdin } = startFixture('agent-with-plain-tool.sh');
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const tree = watch(agent);
    tree.sweep();
    stdin?.end();
    await untilDead(agent);
    await endTree(tree).done;
    expect(isDead(tool)).toBe(true);
  });

  test('reaches the agent behind a wrapper with the interrupt', async () => {
    const { stdout } = startFixture('wrapper.sh');
    const { wrapper, agent } = await untilReady(stdout, 'wrapper', 'agent');
    await endTree(watch(wrapper)).done;
    await untilLine(stdout, /^interrupted$/m);
    expect([wrapper, agent].map(isDead)).toEqual([true, true]);
  });

  test('still reaches it when the wrapper is gone', async () => {
    const { stdout } = startFixture('wrapper.sh');
    const { wrapper, agent } = await untilReady(stdout, 'wrapper', 'agent');
    const tree = watch(wrapper);
    tree.sweep();
    process.kill(wrapper, 'SIGKILL');
    await untilDead(wrapper);
    await endTree(tree).done;
    await untilLine(stdout, /^interrupted$/m);
    expect(isDead(agent)).toBe(true);
  });

  test('kills everything at once on a second Ctrl-C', async () => {
    const { stdout } = startFixture('agent-with-daemon.sh');
    const { agent, tool, orphan } = await untilReady(stdout, 'agent', 'tool', 'orphan');
    let rounds = 0;
    const ending = endTree(watch(agent), {
      // Were the steps waited for, the clock that stands still would never let them come.
      clock: () => 0,
      schedule(callback) {
        rounds += 1;
        const timer = setTimeout(callback, 1);
        return () => clearTimeout(timer);
      },
    });
    expect(rounds).toBe(1);
    ending.killNow();
    await ending.done;
    expect([agent, tool, orphan].map(isDead)).toEqual([true, true, true]);
  });

  test('ends a leftover and what it has started since, and nobody else', async () => {
    const env = { ...process.env, RALPH_RUN_ID: 'end-test-1' };
    const { stdout, stdin } = startFixture('agent-with-dev-server.sh', [], { env });
    const { agent, server } = await untilReady(stdout, 'agent', 'server');
    const tree = watch(agent, 'end-test-1');
    stdin?.end();
    await untilDead(agent);
    process.kill(server, 'SIGUSR1');
    const { worker } = await untilReady(stdout, 'worker');
    const bystander = startFixture('stubborn.sh', ['bystander']);
    const leftovers = tree.leftovers().filter(({ pid }) => pid === server);
    expect(leftovers).toHaveLength(1);

    await endLeftovers(leftovers).done;
    expect([server, worker].map(isDead)).toEqual([true, true]);
    expect(isDead(bystander.pid)).toBe(false);
  });

  test('does not touch a process that has the pid of a former leftover', async () => {
    const { pid, stdout } = startFixture('stubborn.sh', ['bystander']);
    await untilReady(stdout, 'bystander');
    const started = Number(readProcess(pid)?.startedAt);
    const former = { pid, startedAt: String(started - 1) };
    await endLeftovers([former]).done;
    expect(isDead(pid)).toBe(false);
  });

  test('has no leftovers to end', async () => {
    await endLeftovers([]).done;
  });
});

import type { Turn } from './fake-turn.ts';
import { endLater, fixture, isDead, pidOutside, until } from './processes.ts';
import type { Scene } from './scene.ts';

const SAID = 'tools.out';

/**
 * An agent that takes no notice of signals. Nor do its tools: one in a session of its own, which has started
 * another without any environment and by a double fork, and one whose output is the agent's.
 */
export const STUBBORN: Turn = {
  ignores: ['SIGINT', 'SIGTERM', 'SIGHUP'],
  leaves: `exec sh '${fixture('agent-with-daemon.sh')}' >> ${SAID}`,
  hangs: true,
};

/** The living tree of such a turn. */
interface StubbornTree {
  readonly pids: readonly number[];
  /** The pids that are not dead. */
  alive(): readonly number[];
}

/** Waits until the whole tree is there and deaf; when the test is over it is ended. */
export async function untilStubborn(scene: Scene): Promise<StubbornTree> {
  const [call] = await scene.fake.untilCalls(1);
  const names = ['agent', 'tool', 'orphan'];
  const tools = await until(
    () => {
      const said = scene.has(SAID) ? scene.read(SAID) : '';
      const found = names.flatMap(
        (name) => new RegExp(`^ready ${name}=(\\d+)$`, 'm').exec(said)?.[1] ?? [],
      );
      return found.length === names.length && found.map(Number);
    },
    () => `the tools of the agent`,
  );
  const pids = [call?.pid ?? 0, ...tools.map((pid) => pidOutside(pid, scene.folder))];
  for (const pid of pids) endLater(pid);
  return { pids, alive: () => pids.filter((pid) => !isDead(pid)) };
}

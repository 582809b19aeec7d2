// Runs the tests against the real agents: npm run test:agents [-- VITEST ARGUMENTS].
// Installs the agents first, and then runs the tests in a network of their own, which has no address but that
// of the machine itself. Where that is not allowed, the proxies that the tests set refuse every other address.
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { setup as installAgents } from '../test/helpers/install-agents.ts';

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'agents'];
const IN_OWN_NETWORK = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', '-'];

try {
  await installAgents();
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exit(1);
}
const canSeparate = spawnSync('unshare', [...IN_OWN_NETWORK, 'true']).status === 0;
console.log(
  canSeparate
    ? 'The agents run in a network of their own.'
    : 'The agents run in the network of this machine, behind proxies that refuse every address.',
);
const words = [process.execPath, ...VITEST, ...process.argv.slice(2)];
const [program = '', ...args] = canSeparate ? ['unshare', ...IN_OWN_NETWORK, ...words] : words;
const { status, signal } = spawnSync(program, args, { stdio: 'inherit' });
process.exitCode = status ?? 128 + (signal === null ? 1 : constants.signals[signal]);

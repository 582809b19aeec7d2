import type { WrittenRow } from './setting-row.ts';

const POLICY = { not: 'the policy file of the worker decides about its sandbox' } as const;

/** The settings that turn the sandbox on or off, and allow or forbid more than its default rules. */
export const SANDBOX_ROWS = {
  sandbox: {
    negation: '--no-sandbox',
    type: { kind: 'switch' },
    ...{ trust: 'unless-true', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'keep the agent and the checks in the work folder: other files are read-only, secrets unreadable, and hosts refused; --no-sandbox does not (default: off)',
  },
  allowWrite: {
    argument: 'DIR',
    type: { kind: 'texts', what: 'a path' },
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'a further folder that the agent may write to; may be repeated',
  },
  allowNet: {
    argument: 'HOST',
    type: { kind: 'texts' },
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'a host that the agent and the checks may reach, such as registry.example.org, "*.example.com" or 127.0.0.1:8080; may be repeated (default: only what the agent needs to answer)',
  },
  denyRead: {
    argument: 'PATH',
    type: { kind: 'texts', what: 'a path' },
    ...{ trust: false, fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'a file or folder that the agent may not read, besides the dot files of your home; "~" hides all of it; may be repeated',
  },
  allowRead: {
    argument: 'PATH',
    type: { kind: 'texts', what: 'a path' },
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'a file or folder that it may read all the same; the deeper path wins; may be repeated',
  },
  keepEnv: {
    argument: 'NAME',
    type: { kind: 'texts' },
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'a variable of the environment that the agent and the checks see although its name or its value is like that of a secret; may be repeated',
  },
  allowUnixSockets: {
    type: { kind: 'switch' },
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'let programs in the sandbox use sockets in the file system',
  },
  sandboxChecks: {
    negation: '--no-sandbox-checks',
    type: { kind: 'switch' },
    default: 'true',
    ...{ trust: 'beyond-default', fleet: POLICY, resume: 'changes', rescue: 'wall' },
    help: 'run --verify, --until and --setup in the sandbox, too; --no-sandbox-checks runs them outside, for those that need Docker',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

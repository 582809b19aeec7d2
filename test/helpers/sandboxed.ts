import type { SandboxRule, SandboxRules } from '../../src/core/sandbox/rules.ts';
import type { OpenSandbox } from '../../src/core/task/policy.ts';

const byDefault = (value: string): SandboxRule => ({ value, from: 'default' });

/** Rules of a sandbox that allows the least, but for what is given. */
export function sandboxRules(changes: Partial<SandboxRules> = {}): SandboxRules {
  return {
    allowWrite: [byDefault('/home/user/app'), byDefault('/home/user/app/.git')],
    denyWrite: [byDefault('/home/user/app/.git/hooks')],
    denyRead: [byDefault('/home/u/.ssh')],
    allowRead: [],
    hiddenHome: null,
    allowNet: [byDefault('api.anthropic.com:443')],
    keepEnv: [],
    dropEnv: [byDefault('AWS_SECRET_ACCESS_KEY')],
    unixSockets: false,
    checksInside: true,
    ofAgent: { places: ['/home/u/.claude'], variables: ['ANTHROPIC_API_KEY'] },
    ...changes,
  };
}

/** A sandbox that holds. */
export function openSandbox(version = '0.0.78', changes: Partial<SandboxRules> = {}): OpenSandbox {
  return { rules: sandboxRules(changes), version };
}

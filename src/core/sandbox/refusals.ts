import type { SandboxRefusal } from './rules.ts';

/** Why `--sandbox` is refused, and what to do, as a sentence. */
export interface Refusal {
  readonly code: SandboxRefusal;
  readonly sentence: string;
}

/** The component on which the sandbox is built, and the only version of it that was tested. */
export const COMPONENT = '@anthropic-ai/sandbox-runtime';
export const COMPONENT_VERSION = '0.0.78';

/** The programs that the component needs, with the packages that contain them. */
export const TOOLS = { bwrap: 'bubblewrap', socat: 'socat', rg: 'ripgrep' } as const;

export type Tool = keyof typeof TOOLS;

export function missingTools(missing: readonly Tool[]): Refusal {
  const names = missing.map((tool) => TOOLS[tool]);
  return {
    code: 'tools-missing',
    sentence: `--sandbox needs bubblewrap, socat and ripgrep; ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} missing: apt install ${names.join(' ')}`,
  };
}

/** `found` is the version that is installed; null if none is. */
export function missingPackage(found: string | null): Refusal {
  const instead = found === null ? '' : ` (found ${found})`;
  return {
    code: 'package-missing',
    sentence: `--sandbox needs the package ${COMPONENT} ${COMPONENT_VERSION}${instead}: npm install --global ${COMPONENT}@${COMPONENT_VERSION}`,
  };
}

export const AS_ROOT: Refusal = {
  code: 'root',
  sentence:
    '--sandbox does not hold for root: kernel settings stay writable. Run as another user, or in a container with --no-sandbox.',
};

export function unknownPlatform(platform: string): Refusal {
  return {
    code: 'platform',
    sentence: `--sandbox works on Linux and macOS, not on ${platform}: use a container or a virtual machine, with --no-sandbox.`,
  };
}

/** `words` is the message of the program that failed. `isRestricted`: AppArmor does not let users create namespaces. */
export function notStarted(words: string, isRestricted: boolean): Refusal {
  const remedy = isRestricted
    ? ' This kernel restricts user namespaces (apparmor_restrict_unprivileged_userns is 1): docs/sandbox.md#ubuntu'
    : ' In a container or virtual machine that isolates, use --no-sandbox.';
  return { code: 'not-started', sentence: `The sandbox could not be started: ${words}.${remedy}` };
}

/** `what` is a clause: `a write to ~/x went through`. */
export function doesNotHold(what: string): Refusal {
  return {
    code: 'does-not-hold',
    sentence: `The sandbox does not hold: ${what}. Nothing was started.`,
  };
}

/** The namespaces that a command gets for itself, and what it would share with the machine without each. */
const OWN = {
  pid: 'the processes',
  net: 'the network',
  mnt: 'the mounts',
  ipc: 'memory segments and message queues',
} as const;

export type Namespace = keyof typeof OWN;

export const NAMESPACES: readonly Namespace[] = ['pid', 'net', 'mnt', 'ipc'];

export function shares(namespace: Namespace): Refusal {
  return doesNotHold(`it shares ${OWN[namespace]} with this machine (namespace ${namespace})`);
}

/** `what` is a program that runs outside the sandbox, `place` the folder it is in, which the agent may write. */
export function runsInside(what: string, place: string): Refusal {
  return {
    code: 'ralph-inside',
    sentence: `The sandbox does not hold: ${what} runs from ${place}, which the agent may write. Install it elsewhere: npm install --global ralph-headless`,
  };
}

/** `variable` makes programs outside the sandbox load code from a folder that the agent may write. */
export function loadsInside(variable: string, value: string): Refusal {
  return {
    code: 'ralph-inside',
    sentence: `The sandbox does not hold: with ${variable}=${value}, ralph and what it starts outside load files that the agent may write. Unset it, or name only folders elsewhere (an empty name is the current folder).`,
  };
}

import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { arch, release } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type RefusedHost, sumRefused } from '../../core/agent/attempt.ts';
import { rulesForChecks } from '../../core/sandbox/default-rules.ts';
import { holdsKeys, keyFilter, openKeys } from '../../core/sandbox/key-filter.ts';
import { openVsock } from '../../core/sandbox/open-vsock.ts';
import { AS_ROOT, notStarted, type Refusal, unknownPlatform } from '../../core/sandbox/refusals.ts';
import { BY_DEFAULT, type SandboxRule, type SandboxRules } from '../../core/sandbox/rules.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { messageOf, SandboxError } from '../../errors.ts';
import { KB, tryReadText } from '../files/bounded-read.ts';
import { makePrivateFolder, tryToRemove } from '../files/write-file.ts';
import type { ConfinedCommand, PlacedCommand } from '../processes/find-program.ts';
import { findComponent } from './component.ts';
import { type Helper, startHelper } from './helper.ts';
import { innerEnvironment, innerLine, withOwnKernelObjects } from './inner-environment.ts';
import { type Mounts, mountsBy } from './mounts.ts';
import { makePlaceholders, removeAbandoned } from './placeholders.ts';
import { watchPlanted } from './planted.ts';
import { probeSandbox } from './probe.ts';
import {
  filterFile,
  makeCheckFolder,
  makeRunFolder,
  ownerFile,
  ownerText,
  type RunFolder,
  removeCheckFolder,
  removeRunFolder,
} from './run-folder.ts';
import type { OwnPlace, Sandbox, SandboxRole } from './sandbox.ts';
import type { SandboxPlan } from './surroundings.ts';

const isLinux = process.platform === 'linux';

/** How often a probe, or the making of a command line, is tried while the paths to be hidden keep changing. */
const TRIES_AT_MOST = 5;

/** The options for opening a sandbox. */
export interface OpenOptions {
  readonly plan: SandboxPlan;
  readonly env: NodeJS.ProcessEnv;
  readonly runId: string;
  readonly helperProgram: string;
  /** Called with a sentence about each protection that this system lacks, and each later change of what is allowed. */
  readonly warn: (sentence: string) => void;
}

/** Throws a `SandboxError` if the user is root, or on a platform without a sandbox. */
export function requireSandboxUser(): void {
  if (process.getuid?.() === 0) throw new SandboxError(AS_ROOT);
  if (!['linux', 'darwin'].includes(process.platform)) {
    throw new SandboxError(unknownPlatform(process.platform));
  }
}

/** Opens a sandbox and tests that it holds. Otherwise removes what was made, and rejects with a `SandboxError`. */
export async function openPlannedSandbox(options: OpenOptions): Promise<Sandbox> {
  requireSandboxUser();
  const { plan } = options;
  const { rules, surroundings, tools } = plan;
  const writable = rules.allowWrite.map((rule) => rule.value);
  const component = findComponent(writable);
  const run = makeRunFolder();
  const endings: (() => void | Promise<void>)[] = [() => removeRunFolder(run)];
  const close = async (): Promise<void> => {
    for (const end of endings.toReversed()) await end();
  };
  try {
    writeFileSync(ownerFile(run), ownerText());
    writeFileSync(filterFile(run), keyFilter());
    await removeAbandoned(run);
    // A missing folder is made, since the sandbox package would leave it out without a word.
    for (const place of writable.filter((each) => !existsSync(each))) makePrivateFolder(place);
    const placeholders = makePlaceholders(
      run,
      { git: surroundings.gitFolders, folders: surroundings.fixedFolders },
      writable,
    );
    endings.push(placeholders.remove);
    const planted = await watchPlanted(plan, options.env);
    endings.push(planted.sweep);
    const helpers = createHelpers({ ...options, component, run });
    endings.push(helpers.close);
    const mountsOf = mountsBy(rules, run, options.warn);
    const use = { hasRun: false };
    const parts = { helpers, placeholders, planted, use };
    const sandbox = createSandbox({ ...options, mountsOf }, run, parts, close);
    const refusal = await probeUntilSteady(
      () => mountsOf(rules, run.tmp),
      (mounts) =>
        probeSandbox(sandbox, {
          mounts,
          run,
          home: surroundings.home,
          workFolder: surroundings.workFolder,
          socat: tools.socat,
          unixSockets: rules.unixSockets,
          env: { ...options.env, PATH: plan.outerPath },
        }),
    );
    if (refusal !== null) throw new SandboxError(refusal);
    // The probe does not count as a command of the run.
    use.hasRun = false;
    const open = openVsock(release());
    if (open !== null) options.warn(open);
    if (isLinux && !holdsKeys(arch())) options.warn(openKeys(arch()));
    return sandbox;
  } catch (error) {
    await close();
    if (error instanceof SandboxError) throw error;
    throw new SandboxError(notStarted(oneLine(messageOf(error), 300), false));
  }
}

/** Probes again if paths to hide changed during a refused probe: another program may have removed its socket. */
async function probeUntilSteady(
  mountsNow: () => Mounts,
  probe: (mounts: Mounts) => Promise<Refusal | null>,
): Promise<Refusal | null> {
  for (let left = TRIES_AT_MOST - 1; ; left -= 1) {
    const mounts = mountsNow();
    const refusal = await probe(mounts);
    if (refusal === null || left === 0 || isDeepStrictEqual(mounts, mountsNow())) return refusal;
  }
}

/** Makes the command line again if a path to be hidden has disappeared: nothing can be mounted over a missing path. */
async function wrapSteadily(
  helper: Helper,
  inner: string,
  mountsNow: () => Mounts,
): Promise<string> {
  for (let left = TRIES_AT_MOST - 1; ; left -= 1) {
    const mounts = mountsNow();
    const wrapped = await helper.wrap(inner, mounts);
    if (left === 0 || mounts.denyRead.every((place) => existsSync(place))) return wrapped;
  }
}

interface Parts {
  readonly helpers: ReturnType<typeof createHelpers>;
  readonly placeholders: ReturnType<typeof makePlaceholders>;
  readonly planted: Awaited<ReturnType<typeof watchPlanted>>;
  /** Whether a command has run since the last `takeMet`. */
  readonly use: { hasRun: boolean };
}

function createSandbox(
  { plan, mountsOf }: OpenOptions & { readonly mountsOf: ReturnType<typeof mountsBy> },
  run: RunFolder,
  { helpers, placeholders, planted, use }: Parts,
  close: () => Promise<void>,
): Sandbox {
  const { rules } = plan;
  const rulesOf = { agent: rules, check: rulesForChecks(rules) };
  const wrapIn = async (
    tmp: string,
    own: SandboxRules,
    command: PlacedCommand,
    as: SandboxRole,
  ): Promise<ConfinedCommand> => {
    placeholders.renew();
    const helper = await helpers.get(as, own);
    // A check's exit code goes to a file: outside, several programs pass the code on, and a fault in one of them could
    // turn a failed check into a passed one.
    const exitFile = as === 'check' ? path.join(tmp, `.exit-${randomUUID()}`) : null;
    const inner = innerLine(command, own, tmp, exitFile);
    const wrapped = await wrapSteadily(helper, inner, () => mountsOf(own, tmp));
    const line = isLinux ? withOwnKernelObjects(wrapped, filterFile(run)) : wrapped;
    use.hasRun = true;
    // `exec` lets the shell become bwrap, so that the kernel ends the processes inside when ralph ends.
    return {
      file: '/bin/sh',
      args: ['-c', `exec ${line}`],
      env: innerEnvironment(command.env, own, tmp),
      ended: planted.sweep,
      ...(exitFile === null ? {} : { exitCodeInside: () => takeExitCode(exitFile) }),
    };
  };
  return {
    rules,
    outerPath: plan.outerPath,
    helperPids: helpers.pids,
    async wrap(command, as, place) {
      const own = place === undefined ? rulesOf[as] : withPlace(rulesOf[as], place);
      if (as !== 'check' || place !== undefined) {
        return wrapIn(place?.temporary ?? run.tmp, own, command, as);
      }
      // A check has its own caches, so that the agent's caches cannot decide its result.
      const made = makeCheckFolder(run);
      const discard = (): Promise<void> => removeCheckFolder(made);
      try {
        return { ...(await wrapIn(made, own, command, as)), discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    async takeMet() {
      if (!use.hasRun) return null;
      use.hasRun = false;
      return { refused: await helpers.takeRefused(), planted: await planted.take() };
    },
    close,
  };
}

/** Reads and removes the file of the exit code, with a limit: a command inside may have put a pipe in its place. */
function takeExitCode(file: string): number | null {
  const text = tryReadText(file, KB)?.trim() ?? '';
  tryToRemove(file);
  return /^\d{1,3}$/.test(text) ? Number(text) : null;
}

function withPlace(rules: SandboxRules, { writable, fixed, temporary }: OwnPlace): SandboxRules {
  const own = (value: string): SandboxRule => ({ value, from: BY_DEFAULT });
  return {
    ...rules,
    allowWrite: [...rules.allowWrite, ...[...writable, temporary].map(own)],
    denyWrite: [...rules.denyWrite, ...fixed.map(own)],
  };
}

/** Starts helpers (processes with the proxies) when needed: one for agents, one for checks, as their hosts differ. */
function createHelpers(
  options: OpenOptions & { readonly component: string; readonly run: RunFolder },
) {
  const { component, run, runId, env, plan } = options;
  const started: Helper[] = [];
  const current = new Map<SandboxRole, Helper>();
  const start = ({ allowNet, unixSockets }: SandboxRules): Promise<Helper> =>
    startHelper({
      ...{ component, run, runId, env, unixSockets },
      program: options.helperProgram,
      tools: plan.tools,
      hosts: allowNet.map((rule) => rule.value),
      outerPath: plan.outerPath,
    });
  return {
    async get(role: SandboxRole, rules: SandboxRules): Promise<Helper> {
      const known = current.get(role);
      if (known?.isAlive() === true) return known;
      if (known !== undefined) {
        options.warn('The helper of the sandbox has ended, and is started again.');
      }
      const helper = await start(rules);
      current.set(role, helper);
      started.push(helper);
      return helper;
    },
    pids: (): readonly number[] => started.filter((each) => each.isAlive()).map((each) => each.pid),
    async takeRefused(): Promise<readonly RefusedHost[]> {
      const all: RefusedHost[] = [];
      for (const helper of started) all.push(...(await helper.takeRefused()));
      return sumRefused(all);
    },
    async close(): Promise<void> {
      await Promise.all(started.map((helper) => helper.close()));
    },
  };
}

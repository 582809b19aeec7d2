import { pathToFileURL } from 'node:url';
import { messageOf } from '../../errors.ts';
import type { HelperReport, HelperRequest } from './helper-messages.ts';

/*
 * The program of the helper: a separate process that holds the proxies of a sandbox and makes the command lines. In
 * ralph's own process, the component (the sandbox package) would need another current folder, and its crash would end
 * ralph. The helper ends whenever ralph does, since the channel between them closes.
 */

/** The functions of the component (the sandbox package) that are used. */
interface Component {
  initialize(config: object): Promise<void>;
  wrapWithSandbox(
    command: string,
    shell: string,
    config: object,
    signal: undefined,
    options: { readonly commandId: string },
  ): Promise<string>;
  getSandboxViolationStore(): {
    subscribe(listener: (all: readonly { readonly line: string }[]) => void): unknown;
  };
  reset(): Promise<void>;
}

/** The limit for the component's reset at the end of the helper: its wait for its bridge process may take 1.5 s. */
const END_AT_MOST_MS = 500;

let component: Component | null = null;

process.on('message', (message: HelperRequest) => {
  void answer(message);
});
process.on('disconnect', end);
// The channel can close before the listener above is there.
if (!process.connected) end();

function end(): void {
  setTimeout(() => process.exit(), END_AT_MOST_MS);
  void (component?.reset() ?? Promise.resolve()).finally(() => process.exit());
}

async function answer(request: HelperRequest): Promise<void> {
  switch (request.kind) {
    case 'open':
      return open(request).then(
        () => say({ kind: 'opened' }),
        (error: unknown) => say({ kind: 'failed', why: messageOf(error) }),
      );
    case 'wrap':
      return wrap(request).then(
        (line) => say({ kind: 'wrapped', id: request.id, line }),
        (error: unknown) => say({ kind: 'not-wrapped', id: request.id, why: messageOf(error) }),
      );
    case 'catch-up':
      say({ kind: 'caught-up', id: request.id });
  }
}

async function open(request: Extract<HelperRequest, { kind: 'open' }>): Promise<void> {
  const { bwrap, socat, rg, hosts, unixSockets } = request;
  const { SandboxManager }: { SandboxManager: Component } = await import(
    pathToFileURL(request.component).href
  );
  await SandboxManager.initialize({
    network: {
      allowedDomains: hosts,
      deniedDomains: [],
      strictAllowlist: true,
      allowAllUnixSockets: unixSockets,
    },
    filesystem: { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] },
    bwrapPath: bwrap,
    socatPath: socat,
    ripgrep: { command: rg, args: ['--no-config'] },
  });
  component = SandboxManager;
  let isFirst = true;
  SandboxManager.getSandboxViolationStore().subscribe((all) => {
    // The first call only repeats earlier refusals.
    const last = isFirst ? undefined : all.at(-1);
    isFirst = false;
    const [, host, port] = /^deny network-outbound (.+):(\d+) \(/.exec(last?.line ?? '') ?? [];
    if (host !== undefined) say({ kind: 'refused', host, port: Number(port) });
  });
}

async function wrap(request: Extract<HelperRequest, { kind: 'wrap' }>): Promise<string> {
  if (component === null) throw new Error('the sandbox is not open');
  const filesystem = request.mounts;
  // Without an id, the component would put the beginning of the command into the variables of the proxy.
  const named = { commandId: 'ralph' };
  return component.wrapWithSandbox(request.line, '/bin/sh', { filesystem }, undefined, named);
}

function say(report: HelperReport): void {
  if (process.connected) process.send?.(report);
}

import type { Mounts } from './mounts.ts';

/** A request of ralph to the helper of a sandbox, the process that holds its proxies. */
export type HelperRequest =
  | {
      readonly kind: 'open';
      /** The file from which to import the component, the package that makes the sandbox. */
      readonly component: string;
      readonly hosts: readonly string[];
      readonly unixSockets: boolean;
      readonly bwrap: string;
      readonly socat: string;
      readonly rg: string;
    }
  | { readonly kind: 'wrap'; readonly id: number; readonly line: string; readonly mounts: Mounts }
  | { readonly kind: 'catch-up'; readonly id: number };

/** A message of the helper to ralph. */
export type HelperReport =
  | { readonly kind: 'opened' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'wrapped'; readonly id: number; readonly line: string }
  | { readonly kind: 'not-wrapped'; readonly id: number; readonly why: string }
  /** The answer to `catch-up`: all connections that were refused before this request have been reported. */
  | { readonly kind: 'caught-up'; readonly id: number }
  | { readonly kind: 'refused'; readonly host: string; readonly port: number };

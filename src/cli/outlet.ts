/** Standard output for commands whose output may be large or cut off by its reader. */
export interface Outlet {
  /** Resolves, once it is taken, to whether anybody still reads. */
  write(text: string | Uint8Array): Promise<boolean>;
}

/** Standard output; a reader that went away (`| head`) is told, not thrown. */
export function standardOutlet(stream: NodeJS.WritableStream = process.stdout): Outlet {
  return {
    write(text) {
      if (text.length === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        stream.write(text, (error) => resolve(error === null || error === undefined));
      });
    },
  };
}

/** Aborted by the first SIGINT, SIGTERM or SIGHUP, which then end nothing by themselves. */
export function signalled(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => controller.abort());
  }
  return controller.signal;
}

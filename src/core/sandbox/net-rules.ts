/** Returns the `HOST:PORT` of an API's address, or null if the text is not a web address. */
export function hostOfAddress(address: string): string | null {
  const [, scheme, host, port] =
    /^(https?):\/\/(?:[^/?#]*@)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d+))?(?:[/?#]|$)/i.exec(address) ??
    [];
  if (scheme === undefined || host === undefined) return null;
  return `${host}:${port ?? (scheme.toLowerCase() === 'https' ? '443' : '80')}`;
}

/** Whether a rule names this machine, which programs usually reach without a proxy. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host);
}

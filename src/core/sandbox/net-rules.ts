/** Returns what is wrong with a host of `--allow-net`, as the end of a sentence, or null. */
export function hostProblem(value: string): string | null {
  if (value === '*' || value.startsWith('*:')) {
    return 'would allow every host: name the hosts, such as api.example.com or *.example.com';
  }
  if (value.includes('*') && !/^\*(\.[\w-]+){2,}(:\d+)?$/.test(value)) {
    return 'is too wide: a star stands for the beginning of a name with two more parts, such as *.example.com';
  }
  const [, , port] = HOST.exec(value) ?? [null, null, null];
  if (port === null || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) {
    return 'is no host: HOST or HOST:PORT is expected, such as api.example.com or 127.0.0.1:8080';
  }
  return null;
}

const HOST = /^(\[[\da-fA-F:.]+\]|(?:\*\.)?[\w-]+(?:\.[\w-]+)*)(?::(\d{1,5}))?$/;

/** Returns `HOST:PORT` of an address of an API, or null if the text is no web address. */
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

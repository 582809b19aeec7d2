/** Returns what is wrong with the URL of a fleet's database, as a sentence; null if nothing is. */
export function fleetUrlProblem(url: string, where: string): string | null {
  if (/^postgres(?:ql)?:\/\/\S*$/.test(url)) return null;
  // The text is not shown: it may hold a password in an unknown form.
  const found = url.trim() === '' ? 'an empty text' : 'something else';
  return `${where} expects the URL of a PostgreSQL database, such as postgres://USER@HOST/DATABASE; found ${found}.`;
}

/** Whether a URL of a database holds a password. */
export function hasPassword(url: string): boolean {
  return /^\w+:\/\/[^/?#]*?:[^/?#@]+@/.test(url) || /[?&]password=[^&]/.test(url);
}

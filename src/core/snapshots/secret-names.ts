/** Matches file names, without their folder, that look as if the file held a secret. */
const SECRET_NAMES =
  /^(?:\.env.*|.*\.pem|.*\.key|id_rsa|id_ed25519|\.npmrc|\.netrc|.*credentials.*)$/i;

/** Whether the name of a file suggests that it holds a secret. ralph never sends such a file to another machine. */
export function looksSecret(path: string): boolean {
  return SECRET_NAMES.test(path.slice(path.lastIndexOf('/') + 1));
}

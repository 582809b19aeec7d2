/** File names, without their folder, that look as if they held a secret. */
const SECRET_NAMES =
  /^(?:\.env.*|.*\.pem|.*\.key|id_rsa|id_ed25519|\.npmrc|\.netrc|.*credentials.*)$/i;

/** Whether a path looks like a file of secrets by its name: such a file never leaves the machine by ralph. */
export function looksSecret(path: string): boolean {
  return SECRET_NAMES.test(path.slice(path.lastIndexOf('/') + 1));
}

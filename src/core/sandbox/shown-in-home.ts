/*
 * No list can name every secret in a home folder. So each entry whose name begins with a dot is hidden, and this file
 * lists the exceptions, which programs need and may read. Paths are relative to the home folder.
 */

/** Further entries that are hidden, in which other programs keep their own data. */
const HIDDEN: readonly string[] = ['snap', 'Library'];

/** Whether an entry of the home folder with this name is hidden. */
export function isHiddenInHome(name: string): boolean {
  return name.startsWith('.') || HIDDEN.includes(name);
}

const OF_GIT = ['.gitconfig', '.config/git'];

/** Programs that a user installed without being root, and their data. */
const PROGRAMS = [
  ...['.local/bin', '.local/lib', '.local/share/claude', '.nix-profile', '.nix-defexpr'],
  ...['.local/state/nix/profiles', '.guix-profile', '.linuxbrew', '.npm-global', '.terminfo'],
  ...['.local/share/pipx', '.local/share/uv', '.local/share/pnpm', '.local/share/mise'],
  ...['.local/share/rtx', '.local/share/fnm', '.local/share/virtualenvs', '.local/share/fonts'],
  ...['.local/share/pypoetry', '.cache/pypoetry/virtualenvs', '.local/pipx'],
  ...['.local/share/nvm', '.config/nvm'],
  ...['.cache/ms-playwright', '.cache/puppeteer', '.cache/Cypress', '.cache/selenium'],
];

/** Tool chains, version managers, the packages that they have fetched, and files that choose a version. */
const TOOLS = [
  ...['.nvm', '.fnm', '.nodenv', '.nodebrew', '.volta', '.bun', '.deno', '.yarn', '.proto'],
  ...['.pyenv', '.virtualenvs', '.conda', '.rye', '.pixi', '.poetry', '.cargo', '.rustup'],
  ...['.rbenv', '.rvm', '.gem', '.bundle', '.sdkman', '.jenv', '.jabba', '.jdks', '.m2', '.gradle'],
  ...['.ivy2', '.konan', '.dotnet', '.nuget', '.goenv', '.gvm', '.phpenv', '.composer'],
  ...['.swiftly', '.swiftpm', '.ghcup', '.cabal', '.stack', '.opam', '.elan', '.juliaup', '.julia'],
  ...['.pub-cache', '.mix', '.hex', '.kiex', '.luarocks', '.nimble', '.choosenim', '.tfenv'],
  ...['.asdf', '.asdfrc', '.tool-versions', '.node-version', '.nvmrc', '.python-version'],
  ...['.ruby-version', '.java-version', '.foundry/bin', '.krew/bin'],
];

/** The places that can be read although they lie in a hidden entry of the home folder. */
export const SHOWN_IN_HOME: readonly string[] = [...OF_GIT, ...PROGRAMS, ...TOOLS];

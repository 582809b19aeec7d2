/*
 * Nobody can list every secret of a home, so what its owner does not see by default is hidden: each entry whose name
 * begins with a dot. What programs need of it is listed here, and can be read. Paths are relative to the home.
 */

/** Besides names with a dot, the entries in which other programs keep what is their own. */
const HIDDEN: readonly string[] = ['snap', 'Library'];

/** Whether an entry of the home is hidden, by its name. */
export function isHiddenInHome(name: string): boolean {
  return name.startsWith('.') || HIDDEN.includes(name);
}

const OF_GIT = ['.gitconfig', '.config/git'];

/** What a user has installed without being root. */
const PROGRAMS = [
  ...['.local/bin', '.local/lib', '.local/share/claude', '.nix-profile', '.nix-defexpr'],
  ...['.local/state/nix/profiles', '.guix-profile', '.linuxbrew', '.npm-global', '.terminfo'],
  ...['.local/share/pipx', '.local/share/uv', '.local/share/pnpm', '.local/share/mise'],
  ...['.local/share/rtx', '.local/share/fnm', '.local/share/virtualenvs', '.local/share/fonts'],
  ...['.local/share/pypoetry', '.cache/pypoetry/virtualenvs', '.local/pipx'],
  ...['.local/share/nvm', '.config/nvm'],
  ...['.cache/ms-playwright', '.cache/puppeteer', '.cache/Cypress', '.cache/selenium'],
];

/** Tool chains, version managers, the packages that these have fetched, and the files that name a version. */
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

/** The places below the home that can be read although the entry of the home is hidden. */
export const SHOWN_IN_HOME: readonly string[] = [...OF_GIT, ...PROGRAMS, ...TOOLS];

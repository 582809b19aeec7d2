import path from 'node:path';
import type { AgentName } from '../../core/agent/agents/agents.ts';
import {
  type GitFolder,
  type Surroundings,
  sandboxRules,
} from '../../core/sandbox/default-rules.ts';
import { FIXED_IN_GIT } from '../../core/sandbox/fixed-names.ts';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { PATTERN, ruleProblem } from '../../core/sandbox/rule-problems.ts';
import {
  type AskedRules,
  BY_DEFAULT,
  type SandboxRule,
  type SandboxRules,
} from '../../core/sandbox/rules.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { messageOf, SandboxError } from '../../errors.ts';
import { homeFolder } from '../files/home-folder.ts';
import { realPath } from '../files/real-path.ts';
import { trustFolder } from '../plan/trust-store.ts';
import { outerPath } from '../processes/outer-path.ts';
import { defaultKeyFile } from '../trust/key.ts';
import { APPROVED, IN_PROGRESS, PENDING, REJECTED } from '../vault/vault-folders.ts';
import { foreignEntries } from './agent-entries.ts';
import { shownPlaces } from './home-entries.ts';
import { linksOnWay } from './links-on-way.ts';
import { refuseLoadedCode } from './loaded-code.ts';
import { findTools, type ToolFiles } from './outer-programs.ts';
import { findGitFolders, type GitFolders } from './repositories/git-folders.ts';
import { findLeadingOut, gitPlaces } from './repositories/git-links.ts';
import { type FoundPlaces, searchFolders } from './repositories/search-folders.ts';
import { userGitFiles } from './repositories/user-git-files.ts';
import { meetingPlace, temporaryFolders } from './run-folder.ts';

/** The request for a sandbox. Paths are absolute, except for those in `asked`. */
export interface SandboxRequest {
  readonly cwd: string;
  readonly vault: string;
  readonly stateDir: string;
  readonly doneFolder: string;
  /** The file with the key that seals ralph's files, if the user named one; null for the default file. */
  readonly keyFile: string | null;
  /** Paths that only a person or ralph may change: the prompt, protected files, the agents' programs. */
  readonly fixed: readonly string[];
  readonly agents: readonly AgentName[];
  /** What the user asked for; a path can begin with `~`, or be relative to `cwd`. */
  readonly asked: AskedRules;
  readonly env: NodeJS.ProcessEnv;
}

/** A sandbox that is planned but not yet open. */
export interface SandboxPlan {
  readonly rules: SandboxRules;
  readonly surroundings: Surroundings;
  /** Where the agent could put repositories and dangerous names, those of files that programs run by themselves. */
  readonly searched: readonly string[];
  /** The repositories and dangerous names in these folders before the agent starts. */
  readonly found: FoundPlaces;
  readonly tools: ToolFiles;
  /** PATH without the folders that the agent may write to: for everything that ralph itself starts. */
  readonly outerPath: string;
}

/**
 * Examines the folders and returns the plan of a sandbox. Writes nothing, and starts nothing but git and the search for
 * repositories. Rejects with a `SandboxError` if programs are missing, or if the sandbox could not hold its rules.
 */
export async function planSandbox(request: SandboxRequest): Promise<SandboxPlan> {
  const workFolder = realPath(request.cwd);
  const home = homeFolder(request.env);
  const asked = resolved(request.asked, workFolder, home ?? '/');
  const known = places({ ...request, home, workFolder });
  // These rules still lack git's folders: the search for those needs to know the agent's writable folders.
  const first = sandboxRules({ ...known, ...NO_GIT, treeRoot: workFolder }, asked);
  const runsFolder = meetingPlace();
  refuseRules(first, { ...known, runsFolder });
  const writable = first.allowWrite.map((rule) => rule.value);
  const outer = outerPath(request.env, writable);
  const tools = findTools(outer, writable);
  const searched = searchedFolders(first);
  // Fixed folders are not searched: the state folder holds a repository for each task, and is protected as a whole.
  const found = await search(searched, known.fixedFolders);
  const nested = [...found].filter(([, { kind }]) => kind === 'git').map(([place]) => place);
  const env = { ...request.env, PATH: outer };
  const git = await findGitFolders(workFolder, nested, env);
  const writableByGit = [...writable, ...(git.common === null ? [] : [git.common])];
  const ofSettings = git.settings.flatMap(bothNames);
  const settings = [...ofSettings, ...git.hookTargets].filter((place) =>
    isWithinAny(place, writableByGit),
  );
  const surroundings = {
    ...known,
    fixed: [...known.fixed, ...settings],
    treeRoot: git.treeRoot,
    commonGitFolder: git.common,
    gitFolders: git.folders,
    gitLinks: git.links,
    shown: await placesToShow(request, {
      ...known,
      treeRoot: git.treeRoot,
      env,
      writable: writableByGit,
    }),
  };
  const rules = sandboxRules(surroundings, asked);
  refuseRules(rules, { ...surroundings, runsFolder });
  refuseLoadedCode(
    request.env,
    workFolder,
    rules.allowWrite.map((rule) => rule.value),
  );
  refuseStranger(git, asked);
  const ofGit = git.folders.flatMap(({ path: folder, hooks }) => [
    hooks,
    ...FIXED_IN_GIT.map((name) => path.join(folder, name)),
  ]);
  const trusted = trustFolder(request.env);
  const ofPeople = [APPROVED, REJECTED].map((name) => path.join(request.vault, name));
  if (trusted !== null) ofPeople.push(trusted);
  refuseLinks([...ofGit, ...git.hookTargets, ...git.links, request.stateDir, ...ofPeople], rules);
  refuseLinksInGit(git.folders, rules);
  refuseAllowedLinks(request.asked, rules, (value) =>
    path.resolve(workFolder, withHome(value, home ?? '/')),
  );
  return { rules, surroundings, searched, found, tools, outerPath: outer };
}

interface ShownFacts extends Pick<Surroundings, 'home' | 'workFolder' | 'treeRoot'> {
  readonly env: NodeJS.ProcessEnv;
  readonly writable: readonly string[];
}

async function placesToShow(
  { vault, fixed, asked, env: { PATH = '' } }: SandboxRequest,
  { home, workFolder, treeRoot, env, writable }: ShownFacts,
): Promise<readonly string[]> {
  // Paths over symbolic links in writable places do not count: an earlier agent could so have chosen what is readable.
  const isOfUser = (place: string): boolean =>
    path.isAbsolute(place) && linkOnWay(place, writable) === undefined;
  const hidden = asked.unixSockets ? temporaryFolders() : [];
  const ofGit = home === null ? [] : await userGitFiles(workFolder, home, env);
  const places = [treeRoot, realPath(vault), ...fixed];
  const shown = shownPlaces({ home, hidden, places, ofGit, path: PATH, isOfUser });
  return shown.filter((place) => !PATTERN.test(place));
}

function wrongPath(sentence: string): SandboxError {
  return new SandboxError({ code: 'wrong-path', sentence });
}

function refuseStranger({ stranger, treeRoot }: GitFolders, { allowWrite }: AskedRules): void {
  const allowed = allowWrite.map((rule) => rule.value);
  if (stranger === null || isWithinAny(stranger, allowed)) return;
  throw wrongPath(
    `${path.join(treeRoot, '.git')} leads to ${stranger}, which knows nothing of this work tree, so the agent may not write there: repair it with git worktree repair, or allow it with --allow-write ${stranger}`,
  );
}

/** Returns the agent's writable folders, except for its own folders of state: some agents keep repositories there. */
function searchedFolders({ allowWrite, ofAgent }: SandboxRules): readonly string[] {
  return allowWrite
    .filter(({ value, from }) => from !== BY_DEFAULT || !ofAgent.places.includes(value))
    .map((rule) => rule.value);
}

async function search(
  folders: readonly string[],
  fixedFolders: readonly string[],
): Promise<FoundPlaces> {
  const limits = { held: new Set(fixedFolders), gitFolders: new Set<string>() };
  const refuse = (why: string): never => {
    throw wrongPath(
      `--sandbox has to search for repositories where the agent may write (${folders.join(', ')}), and could not: ${why}. Let it write in other folders, or use --no-sandbox.`,
    );
  };
  const found = await searchFolders(folders, limits).catch((error) => refuse(messageOf(error)));
  const closed = folders.find((folder) => found.get(folder)?.kind === 'unread');
  return closed === undefined ? found : refuse(`${closed} cannot be read`);
}

/** Throws if a link in a folder of git leads out of it: git writes through the link, and an agent may have made it. */
function refuseLinksInGit(folders: readonly GitFolder[], rules: SandboxRules): void {
  const out = findLeadingOut(gitPlaces(folders, rules));
  if (out === null) return;
  throw wrongPath(
    `--sandbox cannot hold ${oneLine(out.target, 300)}: the link ${oneLine(out.place, 300)} leads there, and git would write what the agent wants. Remove the link, or use --no-sandbox.`,
  );
}

/** Throws if a link that the agent could replace leads to one of `places`: a mount protects only the link's target. */
function refuseLinks(places: readonly string[], { allowWrite }: SandboxRules): void {
  const writable = allowWrite.map((rule) => rule.value);
  const link = places.map((place) => linkOnWay(place, writable)).find((each) => each !== undefined);
  if (link === undefined) return;
  throw wrongPath(
    `--sandbox cannot hold ${link}, since a link leads there, which the agent could replace: put ${realPath(link)} itself in its place, or use --no-sandbox.`,
  );
}

/** Throws if a link in a writable folder leads to an allowed place: an earlier agent may have chosen its target. */
function refuseAllowedLinks(
  { allowWrite, allowRead }: AskedRules,
  rules: SandboxRules,
  placeOf: (value: string) => string,
): void {
  const writable = rules.allowWrite.map((rule) => rule.value);
  for (const { value } of [...allowWrite, ...allowRead]) {
    const place = placeOf(value);
    const link = linkOnWay(place, writable);
    if (link === undefined) continue;
    throw wrongPath(
      `--sandbox does not allow ${value}, since ${link} is a link that an agent may have made: name ${realPath(place)} itself if that is what you mean.`,
    );
  }
}

/** Returns the first link in writable folders on the way to a place or at it; undefined if there is none. */
function linkOnWay(place: string, writable: readonly string[]): string | undefined {
  return linksOnWay(place).find((link) => isWithinAny(link, writable));
}

const NO_GIT = { commonGitFolder: null, gitFolders: [], gitLinks: [], shown: [] };

function refuseRules(...rules: Parameters<typeof ruleProblem>): void {
  const problem = ruleProblem(...rules);
  if (problem !== null) throw new SandboxError(problem);
}

function places(
  request: SandboxRequest & { readonly home: string | null; readonly workFolder: string },
): Omit<Surroundings, 'treeRoot' | keyof typeof NO_GIT> {
  const { home, workFolder, env, agents } = request;
  const vault = realPath(request.vault);
  const key = defaultKeyFile(env);
  const trusted = trustFolder(env);
  const inVault = (name: string): string => path.join(vault, name);
  const isElsewhere = !isWithinAny(vault, [workFolder]);
  const moved = [inVault(IN_PROGRESS), inVault(PENDING), realPath(request.doneFolder)];
  return {
    home: home === null ? null : realPath(home),
    workFolder,
    vaultFolders: isElsewhere ? moved : [],
    fixedFolders: [
      ...[realPath(request.stateDir), inVault(APPROVED), inVault(REJECTED)],
      ...(trusted === null ? [] : [realPath(trusted)]),
    ],
    fixed: [...request.fixed, ...foreignEntries(agents, { home, env })].flatMap((place) => [
      place,
      ...bothNames(place),
    ]),
    keyFolder: key === null ? null : realPath(path.dirname(key)),
    namedKey: request.keyFile === null ? null : realPath(request.keyFile),
    agents,
    env,
  };
}

/** Returns the path of an entry and, if it is a link, that of its target: either could be replaced. */
function bothNames(place: string): readonly string[] {
  return [path.join(realPath(path.dirname(place)), path.basename(place)), realPath(place)];
}

function withHome(value: string, home: string): string {
  return value === '~' || value.startsWith('~/') ? home + value.slice(1) : value;
}

function resolved(asked: AskedRules, cwd: string, home: string): AskedRules {
  const place = (rule: SandboxRule): SandboxRule => {
    return { ...rule, value: realPath(path.resolve(cwd, withHome(rule.value, home))) };
  };
  return {
    ...asked,
    allowWrite: asked.allowWrite.map(place),
    denyRead: asked.denyRead.map(place),
    allowRead: asked.allowRead.map(place),
  };
}

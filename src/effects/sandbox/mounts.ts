import { existsSync } from 'node:fs';
import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { PATTERN } from '../../core/sandbox/rule-problems.ts';
import { BY_DEFAULT, type SandboxRule, type SandboxRules } from '../../core/sandbox/rules.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { homeFolder } from '../files/home-folder.ts';
import { realPath } from '../files/real-path.ts';
import { hiddenEntries } from './home-entries.ts';
import { otherRunFolders, type RunFolder, temporaryFolders } from './run-folder.ts';

/** The paths for the mounts of the component (the sandbox package): all exist and contain no symbolic links. */
export interface Mounts {
  readonly allowWrite: readonly string[];
  readonly denyWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly allowRead: readonly string[];
}

/** Folders that the component makes writable for every command, whatever its rules say. They are denied again here. */
const OF_COMPONENT = ['/tmp/claude', path.join(homeFolder(process.env) ?? '/', '.npm', '_logs')];

/**
 * Returns a function that computes the mounts of a command from the paths as they are when it starts; `tmp` is the
 * command's temporary folder. Missing paths are left out: the component would make a stub for them in the tree, or
 * ignore the rule. A rule of `planned` that allows a path counts only while the path leads where it leads now, since
 * the agent could put a link there. `warn` is called once for each rule that no longer counts, and for each path that
 * cannot be hidden.
 */
export function mountsBy(
  planned: SandboxRules,
  run: RunFolder,
  warn: (sentence: string) => void,
): (rules: SandboxRules, tmp: string) => Mounts {
  const allowed = [...planned.allowWrite, ...planned.allowRead].map(({ value }) => value);
  const leadsTo = new Map(allowed.map((place) => [place, realPath(place)]));
  const told = new Set<string>();
  const isAsPlanned = ({ value }: SandboxRule): boolean => {
    const now = realPath(value);
    if ((leadsTo.get(value) ?? now) === now) return true;
    if (!told.has(value)) warn(moved(value, now));
    told.add(value);
    return false;
  };
  const isPossible = (place: string): boolean => {
    if (!PATTERN.test(place) && !isInNoEncoding(place)) return true;
    if (!told.has(place)) warn(readable(place));
    told.add(place);
    return false;
  };
  const own: readonly SandboxRule[] = [run.outside, ...OF_COMPONENT].map((value) => ({
    value,
    from: BY_DEFAULT,
  }));
  return (rules, tmp) => {
    const allowWrite = [...existing(rules.allowWrite.filter(isAsPlanned)), tmp];
    const allowRead = [...existing(rules.allowRead.filter(isAsPlanned)), run.path];
    const shown = [...allowRead, ...allowWrite];
    const ofOthers = rules.unixSockets ? otherRunFolders(run).map(({ folder }) => folder.path) : [];
    const temporary = rules.unixSockets ? temporaryFolders() : [];
    const sockets = [...temporary, ...ofOthers].filter((each) => !isWithinAny(each, allowWrite));
    const { hiddenHome } = rules;
    const ofHome = hiddenHome === null ? [] : hiddenEntries(hiddenHome, shown).filter(isPossible);
    const hidden = [...new Set([...existing(rules.denyRead), ...sockets, ...ofHome])].filter(
      (place) => !allowRead.includes(place),
    );
    return {
      allowWrite,
      denyWrite: existing([...rules.denyWrite, ...own]),
      denyRead: [...hidden, ...writableAgain(allowWrite, allowRead, hidden)],
      allowRead,
    };
  };
}

/**
 * Returns the writable places in a readable place that lies in a hidden folder. They must be named as hidden, too: the
 * component mounts the readable place over them, and mounts a writable place again only if it is itself hidden.
 */
function writableAgain(
  allowWrite: readonly string[],
  allowRead: readonly string[],
  hidden: readonly string[],
): readonly string[] {
  const covering = allowRead.filter((place) => isWithinAny(place, hidden));
  return allowWrite.filter((place) => isWithinAny(place, covering) && !hidden.includes(place));
}

/** Whether a path is no valid UTF-8: the component takes paths as text, in which such bytes are lost. */
function isInNoEncoding(place: string): boolean {
  return place.includes('\uFFFD') && !existsSync(place);
}

function readable(place: string): string {
  const why = PATTERN.test(place) ? 'has one of * ? [ ]' : 'is no UTF-8';
  return `${oneLine(place, 300)} stays readable in the sandbox, since its name ${why}: rename it to hide it.`;
}

function moved(place: string, now: string): string {
  return `${oneLine(place, 300)} now leads to ${oneLine(now, 300)}, so the sandbox no longer allows it.`;
}

function existing(rules: readonly SandboxRule[]): readonly string[] {
  const places = rules.map(({ value }) => value).filter((place) => existsSync(place));
  return [...new Set(places.map(realPath))];
}

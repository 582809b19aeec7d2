import type { SourcedSettings } from './setting-source.ts';
import type { SettingName } from './settings.ts';

/** The settings that say what the sandbox allows and denies. */
export const SANDBOX_RULES = [
  'allowWrite',
  'allowNet',
  'denyRead',
  'allowRead',
  'keepEnv',
  'allowUnixSockets',
  'sandboxChecks',
] as const satisfies readonly SettingName[];

const PATHS = ['allowWrite', 'denyRead', 'allowRead'] as const;

/** Returns what is wrong with the rules of the sandbox, one sentence each. */
export function sandboxProblems({ settings, sources }: SourcedSettings): readonly string[] {
  const problems: string[] = [];
  for (const name of PATHS) {
    if (settings[name].some((path) => path.trim() === '')) {
      problems.push(`${sources[name].where} expects a path; found an empty text.`);
    }
  }
  for (const host of settings.allowNet) {
    if (isAnyHost(host)) {
      problems.push(
        `${sources.allowNet.where} expects a host by its name; found '${host}', which is every host. Use --no-sandbox if nothing is to be held back.`,
      );
    } else if (!isHost(host)) {
      problems.push(
        `${sources.allowNet.where} expects HOST or HOST:PORT, such as registry.npmjs.org, *.example.com or 127.0.0.1:8080; found '${host}'.`,
      );
    }
  }
  for (const name of settings.keepEnv) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      problems.push(`${sources.keepEnv.where} expects the name of a variable; found '${name}'.`);
    }
  }
  if (settings.sandbox === true && settings.keepBackground) {
    problems.push(
      '--keep-background cannot be kept with --sandbox: everything in it ends with the agent.',
    );
  }
  // Who says --no-sandbox, for example with a resume, need not take every rule back.
  if (settings.sandbox !== true && sources.sandbox.kind !== 'flag') {
    for (const name of SANDBOX_RULES.filter((each) => sources[each].kind === 'flag')) {
      problems.push(`${sources[name].where} needs --sandbox, and it was not given.`);
    }
  }
  return problems;
}

function isAnyHost(host: string): boolean {
  return /^\*(?:\.\*)?(?::.*)?$/.test(host.trim());
}

const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/;

/** Whether a text is a name or an address with an optional port. A `*` stands for what precedes two labels. */
function isHost(text: string): boolean {
  const [, name = '', port = '1'] =
    /^(\[[\dA-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (name === '' || Number(port) < 1 || Number(port) > 65_535) return false;
  if (name.startsWith('[')) return true;
  const isPattern = name.startsWith('*.');
  const labels = (isPattern ? name.slice(2) : name).split('.');
  return labels.every((label) => LABEL.test(label)) && (!isPattern || labels.length > 1);
}

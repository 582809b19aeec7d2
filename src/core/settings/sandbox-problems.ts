import type { SourcedSettings } from './setting-source.ts';
import { settingsWith } from './settings.ts';

const SANDBOX_RULES = settingsWith({ rescue: 'wall' }).filter((name) => name !== 'sandbox');

/** Returns what is wrong with the rules of the sandbox, one sentence each. */
export function sandboxProblems({ settings, sources }: SourcedSettings): readonly string[] {
  const problems: string[] = [];
  for (const host of settings.allowNet) {
    const problem = hostProblem(host);
    if (problem !== null) problems.push(`${sources.allowNet.where} '${host}' ${problem}.`);
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
  // If a resume turns the sandbox off with --no-sandbox, the rules given before may stay.
  if (settings.sandbox !== true && sources.sandbox.kind !== 'flag') {
    for (const name of SANDBOX_RULES.filter((each) => sources[each].kind === 'flag')) {
      problems.push(`${sources[name].where} needs --sandbox, and it was not given.`);
    }
  }
  return problems;
}

const HOST = /^(\[[\dA-Fa-f:.]+\]|(?:\*\.)?[\w-]+(?:\.[\w-]+)*)(?::(\d{1,5}))?$/;

/** Returns what is wrong with a host, as the end of a sentence; null if nothing is. */
function hostProblem(value: string): string | null {
  if (value === '*' || value.startsWith('*:')) {
    return 'would allow every host: name the hosts, such as api.example.com or *.example.com';
  }
  if (value.includes('*') && !/^\*(\.[\w-]+){2,}(:\d+)?$/.test(value)) {
    return 'is too wide: a star is the beginning of a name with two more parts, such as *.example.com';
  }
  const [found, , port = '1'] = HOST.exec(value) ?? [];
  return found === undefined || Number(port) < 1 || Number(port) > 65_535
    ? 'is no host: HOST or HOST:PORT is expected, such as api.example.com or 127.0.0.1:8080'
    : null;
}

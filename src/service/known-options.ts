import { settingNames } from '../core/settings/settings.ts';
import { nearest } from '../core/text/nearest.ts';
import { UsageError } from '../errors.ts';
import type { RunTaskOptions } from './run-task-options.ts';
import { isOfCommandLine, OF_COMMAND_LINE } from './setting-options.ts';

/** Throws for unknown options: in JavaScript, a misspelt limit must not count as no limit. */
export function refuseWrongOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError([
      'runTask expects an object of options, including a prompt, or the id of a task to resume.',
    ]);
  }
  const { resume } = options as RunTaskOptions;
  if (resume !== undefined && typeof resume !== 'string') {
    throw new UsageError([`resume expects the id of a task; found ${JSON.stringify(resume)}.`]);
  }
  const problems = Object.keys(options).flatMap(problemWith);
  if (problems.length > 0) throw new UsageError(problems);
}

function problemWith(name: string): readonly string[] {
  if (isOfCommandLine(name)) return [`${name} is for the command line: ${OF_COMMAND_LINE[name]}.`];
  const known = [...settingNames().filter((each) => !isOfCommandLine(each)), ...OTHER_OPTIONS];
  if (known.includes(name)) return [];
  const near = nearest(name, known);
  return [`${name} is not an option of runTask${near === null ? '' : `; did you mean ${near}?`}`];
}

const OTHER_OPTIONS: readonly string[] = [
  'signals',
  'signal',
  'onEvent',
  'onText',
  'onNotice',
  'env',
  'agentArguments',
  'claudeBin',
  'resume',
] satisfies readonly (keyof RunTaskOptions)[];

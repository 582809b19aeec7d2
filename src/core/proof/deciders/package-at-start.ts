import { isObject } from '../../text/is-object.ts';
import { fieldsOfJson, IN_PACKAGE_JSON } from '../tool-section.ts';
import { isNoTest } from './deciders.ts';

/** Returns the command of a script in a `package.json`; null if there is none, or only npm's placeholder. */
export function scriptLine(packageJson: string | null, name: string): string | null {
  const scripts = packageJson === null ? null : fieldsOfJson(packageJson)?.scripts;
  if (!isObject(scripts) || !Object.hasOwn(scripts, name)) return null;
  const line = scripts[name];
  return typeof line === 'string' && !isNoTest(line) ? line : null;
}

/**
 * Returns a `package.json` with the tools' settings of `before`, its text at the start of the task, and the scripts
 * in `lines`, where null removes one. All else stays. If one of the texts cannot be parsed, returns `before`.
 */
export function packageAtStart(
  packageJson: string,
  before: string | null,
  lines: ReadonlyMap<string, string | null>,
): string | null {
  const fields = fieldsOfJson(packageJson);
  const earlier = before === null ? {} : fieldsOfJson(before);
  if (fields === null || earlier === null) return before;
  const kept = Object.entries(fields).filter(([key]) => !IN_PACKAGE_JSON.includes(key));
  const put = Object.entries(earlier).filter(([key]) => IN_PACKAGE_JSON.includes(key));
  const scripts = Object.entries(isObject(fields.scripts) ? fields.scripts : {}).filter(
    ([name]) => !lines.has(name),
  );
  const added = [...lines].filter(([, line]) => line !== null);
  const whole = {
    ...Object.fromEntries([...kept, ...put]),
    ...(scripts.length + added.length === 0
      ? {}
      : { scripts: Object.fromEntries([...scripts, ...added]) }),
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

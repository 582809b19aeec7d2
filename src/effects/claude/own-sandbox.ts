import path from 'node:path';
import { isObject } from '../../core/text/is-object.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { homeFolder } from '../files/home-folder.ts';
import { objectAt, parseObject } from '../files/json-fields.ts';

const OFF = { enabled: false };

/**
 * Returns the user's arguments with the sandbox of `claude` switched off, since it cannot start inside another one. If
 * there are several `--settings`, `claude` uses the last, so the switch is added to the user's own.
 */
export function withoutOwnSandbox(passthrough: readonly string[], cwd: string): readonly string[] {
  const at = passthrough.findLastIndex((word) => word === FLAG || word.startsWith(`${FLAG}=`));
  if (at === -1) return [...passthrough, `${FLAG}=${JSON.stringify({ sandbox: OFF })}`];
  const isApart = passthrough[at] === FLAG;
  const given = isApart ? passthrough[at + 1] : passthrough[at]?.slice(FLAG.length + 1);
  const settings = given === undefined ? null : readSettings(given, cwd);
  // claude itself reports what is wrong with these settings.
  if (settings === null) return passthrough;
  const sandbox = { ...objectAt(settings, 'sandbox'), ...OFF };
  const changed = `${FLAG}=${JSON.stringify({ ...settings, sandbox })}`;
  return passthrough.toSpliced(at, isApart ? 2 : 1, changed);
}

const FLAG = '--settings';

/** Returns the settings of an argument, which is JSON or a file, as for `claude`. */
function readSettings(given: string, cwd: string) {
  if (given.trim().startsWith('{')) return parseObject(given);
  return parseObject(tryReadText(path.resolve(cwd, given), MB) ?? '');
}

/** Returns a sentence about settings that switch the sandbox of `claude` on; empty if none do. */
export function findOwnSandbox(cwd: string, env: NodeJS.ProcessEnv): readonly string[] {
  const home = homeFolder(env);
  const folders = [cwd, ...(home === null ? [] : [home])].map((each) => path.join(each, '.claude'));
  const files = folders.flatMap((each) =>
    ['settings.json', 'settings.local.json'].map((name) => path.join(each, name)),
  );
  const [file] = files.filter((each) => {
    const settings = parseObject(tryReadText(each, MB) ?? '');
    const sandbox = settings === null ? null : objectAt(settings, 'sandbox');
    return isObject(sandbox) && sandbox.enabled === true;
  });
  if (file === undefined) return [];
  return [
    `${file} switches claude's own sandbox on: it is off in this run, since ralph's is around it.`,
  ];
}

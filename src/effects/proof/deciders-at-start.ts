import path from 'node:path';
import * as z from 'zod/mini';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { gitWith } from '../git/open-repository.ts';
import { type FoundPrograms, findPrograms } from './deciding-programs.ts';
import { type FolderDeciders, type FolderOfChecks, markDeciders } from './folder-deciders.ts';
import { type IgnoredDeciders, markIgnoredDeciders } from './ignored-deciders.ts';

/** What decided the results of a task's checks at its start, as far as no snapshot has it. */
export interface DecidersAtStart {
  readonly checks: readonly string[];
  readonly folder: FolderDeciders;
  /** PATH at the start, by which `programs` were found. A comparison is possible only with the same PATH. */
  readonly path: string;
  readonly programs: Readonly<Record<string, string | null>>;
  /** Deciders that git ignores; null if they were not looked for. */
  readonly ignored: IgnoredDeciders | null;
}

/** Records what decides the checks' results now. `env` is that of the checks. Never rejects for an unreadable file. */
export async function takeDeciders(
  place: FolderOfChecks,
  env: NodeJS.ProcessEnv,
  gitEnv = env,
): Promise<DecidersAtStart> {
  const folder = await markDeciders(place);
  return {
    checks: place.checks,
    folder,
    path: env.PATH ?? '',
    programs: Object.fromEntries(findPrograms(folder.programs, { env, cwd: place.cwd })),
    ignored: await markIgnoredDeciders(place.cwd, gitWith(gitEnv)),
  };
}

/** Adds the checks that a resume has named. The records of the start stay; those that are missing are made now. */
export function withNewChecks(atStart: DecidersAtStart, now: DecidersAtStart): DecidersAtStart {
  const { folder } = atStart;
  const known = new Set(folder.scripts.map(({ file, name }) => `${file} ${name}`));
  const scripts = now.folder.scripts.filter(({ file, name }) => !known.has(`${file} ${name}`));
  return {
    ...now,
    folder: {
      files: { ...now.folder.files, ...folder.files },
      scripts: [...folder.scripts, ...scripts],
      programs: [...new Set([...folder.programs, ...now.folder.programs])],
    },
    // Programs that were found on another PATH at the start cannot be compared.
    programs: now.path === atStart.path ? { ...now.programs, ...atStart.programs } : now.programs,
    ignored: atStart.ignored ?? now.ignored,
  };
}

/** Returns what of `atStart` also holds on other machines, where programs lie elsewhere and git ignores other files. */
export function withoutPlace(atStart: DecidersAtStart): DecidersAtStart {
  return { ...atStart, path: '', programs: {}, ignored: null };
}

/** Replaces what `withoutPlace` left out by what was found on this machine (`now`). */
export function placedHere(atStart: DecidersAtStart, now: DecidersAtStart): DecidersAtStart {
  const { path: here, programs, ignored } = now;
  return { ...atStart, path: here, programs, ignored };
}

/** Returns the programs as they were found at the start. */
export function programsOf({ programs }: DecidersAtStart): FoundPrograms {
  return new Map(Object.entries(programs));
}

/** Returns the text of `deciders.json`, without its seal (a signature with the user's key). */
export function decidersJson(deciders: DecidersAtStart): string {
  return `${safeJson(deciders)}\n`;
}

const MAX_BYTES = 8 * MB;

/** Reads `deciders.json` in a task's folder; null if it is missing or damaged. The caller has to check its seal. */
export function storedDeciders(taskFolder: string): DecidersAtStart | null {
  const text = tryReadText(path.join(taskFolder, 'deciders.json'), MAX_BYTES);
  return text === null ? null : parseDeciders(text);
}

/** Parses the text of `deciders.json`; returns null if it is damaged. */
export function parseDeciders(text: string): DecidersAtStart | null {
  const parsed = schema().safeParse(parseObject(text));
  return parsed.success ? parsed.data : null;
}

function schema() {
  const text = z.string();
  return z.object({
    checks: z.array(text),
    folder: z.object({
      files: z.record(text, z.nullable(text)),
      scripts: z.array(z.object({ file: text, name: text, line: text })),
      programs: z.array(text),
    }),
    path: text,
    programs: z.record(text, z.nullable(text)),
    ignored: z._default(z.nullable(z.record(text, z.nullable(text))), null),
  });
}

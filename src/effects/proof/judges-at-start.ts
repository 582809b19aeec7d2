import path from 'node:path';
import * as z from 'zod/mini';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { gitAsker } from '../git/open-repository.ts';
import { type FolderJudges, type FolderOfChecks, markJudges } from './folder-judges.ts';
import { type IgnoredJudges, markIgnoredJudges } from './ignored-judges.ts';
import { type FoundPrograms, findPrograms } from './judge-programs.ts';

/** What decided the checks of a task at its start, as far as no snapshot tells it. */
export interface JudgesAtStart {
  readonly checks: readonly string[];
  readonly folder: FolderJudges;
  /** PATH, and where each program was found on it. Another PATH finds others. */
  readonly path: string;
  readonly programs: Readonly<Record<string, string | null>>;
  /** Judges that git ignores; null if nobody looked. */
  readonly ignored: IgnoredJudges | null;
}

/** Looks at what decides checks now. Never rejects for what cannot be read. `env` is that of the checks. */
export async function takeJudges(
  place: FolderOfChecks,
  env: NodeJS.ProcessEnv,
  gitEnv = env,
): Promise<JudgesAtStart> {
  const folder = await markJudges(place);
  return {
    checks: place.checks,
    folder,
    path: env.PATH ?? '',
    programs: Object.fromEntries(findPrograms(folder.programs, { env, cwd: place.cwd })),
    ignored: await markIgnoredJudges(place.cwd, gitAsker(gitEnv)),
  };
}

/**
 * Adds checks that a resume has named to those of the start: what is known of the start stays, and the rest
 * begins now.
 */
export function withNewChecks(atStart: JudgesAtStart, now: JudgesAtStart): JudgesAtStart {
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
    // Another PATH finds other programs.
    programs: now.path === atStart.path ? { ...now.programs, ...atStart.programs } : now.programs,
    ignored: atStart.ignored ?? now.ignored,
  };
}

/**
 * Returns what still holds of `atStart` on another machine, in another checkout. Programs lie elsewhere there, and git
 * ignores other files, although nobody has changed anything.
 */
export function withoutPlace(atStart: JudgesAtStart): JudgesAtStart {
  return { ...atStart, path: '', programs: {}, ignored: null };
}

/** Adds what holds here to what `withoutPlace` has left. */
export function placedHere(atStart: JudgesAtStart, now: JudgesAtStart): JudgesAtStart {
  const { path: here, programs, ignored } = now;
  return { ...atStart, path: here, programs, ignored };
}

/** Returns the programs as they were found at the start. */
export function programsOf({ programs }: JudgesAtStart): FoundPrograms {
  return new Map(Object.entries(programs));
}

/** Returns the text of `judges.json`, not sealed yet. */
export function judgesJson(judges: JudgesAtStart): string {
  return `${safeJson(judges)}\n`;
}

const JUDGES_MAX_BYTES = 8 * MB;

/** Reads `judges.json` in a task's folder, whose seal is checked elsewhere; null if it is missing or damaged. */
export function storedJudges(taskFolder: string): JudgesAtStart | null {
  const text = tryReadText(path.join(taskFolder, 'judges.json'), JUDGES_MAX_BYTES);
  return text === null ? null : parseJudges(text);
}

/** Parses the text of `judges.json`; returns null if it is damaged. */
export function parseJudges(text: string): JudgesAtStart | null {
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

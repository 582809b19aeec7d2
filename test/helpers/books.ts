import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type RalphEvent, RalphService, type RalphServiceOptions } from '../../src/index.ts';
import { type Json, jsonLines } from './scene.ts';
import { tempFolder } from './temp-folder.ts';

/** When the tests' books are opened. */
export const OPENED = '2026-01-15T10:00:00.000Z';

/** A service in an empty vault, with a clock that stands still until it is moved. */
export async function openBooks(options: RalphServiceOptions = {}) {
  const vault = await tempFolder();
  let nowMs = Date.parse(OPENED);
  const events: RalphEvent[] = [];
  const service = (changes: RalphServiceOptions = {}): RalphService =>
    new RalphService({
      vault,
      env: {},
      now: () => new Date(nowMs),
      onEvent: (event) => events.push(event),
      ...options,
      ...changes,
    });
  const path = (name: string): string => join(vault, name);
  return {
    vault,
    /** Everything that was told, in order. */
    events,
    books: service(),
    /** Another one on the same vault. */
    service,
    /** Lets time pass. */
    pass(seconds: number): void {
      nowMs += seconds * 1_000;
    },
    path,
    write(name: string, text: string): string {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
      return path(name);
    },
    move(from: string, to: string): void {
      mkdirSync(dirname(path(to)), { recursive: true });
      renameSync(path(from), path(to));
    },
    read: (name: string): string => readFileSync(path(name), 'utf8'),
    names: (name: string): readonly string[] =>
      existsSync(path(name)) ? readdirSync(path(name)).sort() : [],
    /** The state of an open task as it stands on disk, but for its sum. */
    state(taskId: string): Json {
      const { sum, ...state } = JSON.parse(
        readFileSync(path(`.ralph_state/${taskId}.json`), 'utf8'),
      );
      return state;
    },
    journal: (): readonly Json[] =>
      jsonLines(readFileSync(path('.ralph_state/events.jsonl'), 'utf8')),
  };
}

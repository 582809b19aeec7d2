import { inGroup, type OwnRow } from './rows/setting-row.ts';
import type { Written } from './setting-source.ts';
import { type SettingName, settingsWith } from './settings.ts';

/** The settings that `ralph work` has beyond those of a run. */
export const WORK_SETTINGS = inGroup('The list', {
  item: {
    argument: 'ID',
    type: { kind: 'texts' },
    help: 'work on this item only; may be repeated',
  },
  again: {
    argument: 'ID',
    type: { kind: 'texts' },
    help: 'try a blocked item again; may be repeated, and all takes all of them',
  },
  section: {
    argument: 'NAME',
    type: { kind: 'texts' },
    help: 'only the boxes under headings of this name, or the list under this tag of a JSON file; may be repeated',
  },
  concurrency: {
    type: { kind: 'count', min: 1 },
    default: '1',
    help: 'how many items run at a time; more than 1 needs --worktree',
  },
  itemChecks: {
    type: { kind: 'switch' },
    help: 'also run the commands that the items name; the author of the list then runs commands here',
  },
  label: {
    argument: 'NAME',
    type: { kind: 'text' },
    help: 'of github: only open issues with this label; required there',
  },
  from: {
    type: { kind: 'command' },
    help: 'take the list that this command prints as JSON, in place of LIST',
  },
  claim: {
    type: { kind: 'command' },
    help: 'run this before an item begins, with its id in $RALPH_ITEM_ID; if it fails, somebody else has the item',
  },
  done: {
    type: { kind: 'command' },
    help: 'run this once an item is done, with its id in $RALPH_ITEM_ID; if it fails, the next run repeats it',
  },
} as const satisfies Readonly<Record<string, OwnRow>>);

type WorkSettingName = keyof typeof WORK_SETTINGS;

/** The settings of `ralph work` as they stand on the command line. */
export type WorkLayer = Readonly<Partial<Record<WorkSettingName, Written>>>;

/**
 * Settings that make sense for one task only. Each item of a list becomes a task of its own, so `base` is among them:
 * an item always begins on the branch into which its work is merged.
 */
const OF_ONE_TASK = [
  ...['prompt', 'promptFile', 'taskId', 'planFile', 'planSection'],
  'base',
] as const satisfies readonly SettingName[];

/** Settings that `ralph work` takes, although `ralph rescue` does not. */
const TAKEN: readonly SettingName[] = ['dryRun', 'json'];

/** Returns the settings of a run that `ralph work` does not take. */
export function notOfLists(): readonly SettingName[] {
  const others = [...settingsWith({ rescue: 'file' }), ...settingsWith({ rescue: 'off' })];
  return [...new Set([...OF_ONE_TASK, ...others])].filter((name) => !TAKEN.includes(name));
}

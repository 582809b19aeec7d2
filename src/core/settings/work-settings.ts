import type { FlagRow } from './rows/setting-row.ts';
import type { Written } from './setting-source.ts';
import { type SettingName, settingsWith } from './settings.ts';

/** The settings that `ralph work` has beyond those of a run. */
export const WORK_SETTINGS = {
  item: {
    flag: '--item',
    argument: 'ID',
    type: { kind: 'texts' },
    group: 'Around it',
    help: 'work on this item only; may be repeated',
  },
  again: {
    flag: '--again',
    argument: 'ID',
    type: { kind: 'texts' },
    group: 'Around it',
    help: 'try a blocked item again; may be repeated, and all takes all of them',
  },
  section: {
    flag: '--section',
    argument: 'NAME',
    type: { kind: 'texts' },
    group: 'Around it',
    help: 'only the boxes under headings of this name, or the list under this tag of a JSON file; may be repeated',
  },
  concurrency: {
    flag: '--concurrency',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Around it',
    default: '1',
    help: 'how many items run at a time; more than 1 needs --worktree',
  },
  itemChecks: {
    flag: '--item-checks',
    type: { kind: 'switch' },
    group: 'Around it',
    help: 'also run the commands that the items name; the author of the list then runs commands here',
  },
  label: {
    flag: '--label',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'of github: only open issues with this label; required there',
  },
  from: {
    flag: '--from',
    argument: 'COMMAND',
    type: { kind: 'command' },
    group: 'Around it',
    help: 'take the list that this command prints as JSON, in place of LIST',
  },
  claim: {
    flag: '--claim',
    argument: 'COMMAND',
    type: { kind: 'command' },
    group: 'Around it',
    help: 'run this before an item begins, with its id in $RALPH_ITEM_ID; if it fails, somebody else has the item',
  },
  done: {
    flag: '--done',
    argument: 'COMMAND',
    type: { kind: 'command' },
    group: 'Around it',
    help: 'run this once an item is done, with its id in $RALPH_ITEM_ID; if it fails, the next run repeats it',
  },
} as const satisfies Readonly<Record<string, FlagRow>>;

type WorkSettingName = keyof typeof WORK_SETTINGS;

/** What the command line says of the settings of `ralph work`. */
export type WorkLayer = Readonly<Partial<Record<WorkSettingName, Written>>>;

/** Settings that only a command for one task takes: the items of a list have a task each, and begin where they land. */
const OF_ONE_TASK = [
  ...['prompt', 'promptFile', 'taskId', 'planFile', 'planSection'],
  'base',
] as const satisfies readonly SettingName[];

/** Settings that a pass over a vault does not take, and that a list does. */
const TAKEN: readonly SettingName[] = ['dryRun', 'json'];

/** The settings of a run that `ralph work` does not take. */
export function notOfLists(): readonly SettingName[] {
  const others = [...settingsWith({ rescue: 'file' }), ...settingsWith({ rescue: 'off' })];
  return [...new Set([...OF_ONE_TASK, ...others])].filter((name) => !TAKEN.includes(name));
}

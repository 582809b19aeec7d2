import { commandHere, fromItsFolder } from '../../printed-command.ts';
import { againCommand } from '../screens/list.ts';
import { frontMatter, inlineText } from './markdown.ts';

/** What a note about a list says about an item that cannot be started. */
export interface NotedItem {
  readonly id: string;
  readonly title: string;
  readonly taskId: string;
  /** Why the item is blocked; null if it waits for others. */
  readonly reason: string | null;
  readonly waitsFor: readonly string[];
}

/** Returns the Markdown text of the note which says that no further item of a list can be started. */
export function renderListNote(
  {
    list,
    source,
    typed,
    items,
    others,
  }: {
    readonly list: string;
    readonly source: string;
    /** The words that name the list on a command line. */
    readonly typed: string;
    readonly items: readonly NotedItem[];
    /** Other items that a person should look at. `why` is a clause. */
    readonly others: readonly {
      readonly id: string;
      readonly title: string;
      readonly why: string;
    }[];
  },
  { created, stateDir }: { readonly created: string; readonly stateDir: string },
): string {
  const front = frontMatter({
    ...{ type: 'ralph_list', task_id: list, reason: 'list-blocked', file: source },
    ...{ created, state_dir: stateDir },
  });
  const lines = items.map(({ id, title, taskId, reason, waitsFor }) => {
    const name = `**${inlineText(id)}** (${inlineText(title)})`;
    return reason === null
      ? `- ${name} waits for ${waitsFor.map((each) => inlineText(each)).join(', ')}.`
      : `- ${name} is blocked: ${inlineText(reason)}. \`${fromItsFolder(commandHere('logs', taskId))}\` shows what happened.`;
  });
  for (const { id, title, why } of others) {
    lines.push(`- **${inlineText(id)}** (${inlineText(title)}) ${inlineText(why)}.`);
  }
  const again = items.flatMap(({ id, reason }) =>
    reason === null ? [] : [fromItsFolder(againCommand(typed, id))],
  );
  return [
    front,
    `# Nothing more of ${inlineText(source)} can be started`,
    lines.join('\n'),
    '## What to do next',
    again.length === 0
      ? 'Do what these items wait for, or correct the list or its commands; the same line again goes on.'
      : `Correct the item or its task, and try it again:\n\n\`\`\`sh\n${again.join('\n')}\n\`\`\``,
  ]
    .join('\n\n')
    .concat('\n');
}

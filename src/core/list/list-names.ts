/** Whether a file can be a list of tasks, by its name alone: a Markdown file may as well be a prompt. */
export function isListName(file: string): boolean {
  return /\.jsonl?$/i.test(file) || /(?:^|[/\\])(?:@?fix_plan|tasks|todo|plan)\.md$/i.test(file);
}

/** Flags of other drivers that name a list. */
export const LIST_FLAGS: readonly string[] = ['--list', '--prd'];

/** Whether the name of a file shows that it is a list of tasks. Any other Markdown file may be a prompt. */
export function isListName(file: string): boolean {
  return /\.jsonl?$/i.test(file) || /(?:^|[/\\])(?:@?fix_plan|tasks|todo|plan)\.md$/i.test(file);
}

/** Flags that name a list in other programs that run agents. */
export const LIST_FLAGS: readonly string[] = ['--list', '--prd'];

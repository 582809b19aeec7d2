/** How the lines before and after a task file's text begin. The prompt's text above them is the same for all files. */
const FILE_BEGINS = '===== BEGIN DATA: the task file';
const FILE_ENDS = '===== END DATA';

/** Returns what a person asked for: the prompt, but of a prompt about a task file only the file's text. */
export function askedText(prompt: string): string {
  const lines = prompt.split('\n');
  return lines
    .slice(lines.findIndex((each) => each.startsWith(FILE_BEGINS)) + 1)
    .filter((each) => !each.startsWith(FILE_ENDS))
    .join('\n');
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { isListName } from '../../core/list/list-names.ts';

/**
 * Returns why a single word is hardly the prompt that was meant, with the command that probably was; null if it may
 * be. The agent would otherwise work on that one word.
 */
export function whyNoPrompt(
  word: string | null,
  { startDir, name, isOpenTask }: PromptPlace,
): string | null {
  if (word === null || /\s/.test(word)) return null;
  if (isOpenTask(word)) {
    return `'${word}' is an open task, and the prompt would be that one word: ralph resume ${word} continues it.`;
  }
  const isThere = existsSync(path.resolve(startDir, word));
  if (isThere && name === 'run' && isListName(word)) {
    return `'${word}' is a file, and the prompt would be that one word: ralph work ${word} works through a list of tasks, and ralph run --prompt-file ${word} takes the file as a prompt.`;
  }
  return isThere
    ? `'${word}' is a file, and the prompt would be that one word: ralph ${name} --prompt-file ${word} takes the file.`
    : null;
}

interface PromptPlace {
  readonly startDir: string;
  readonly name: 'run' | 'submit';
  readonly isOpenTask: (id: string) => boolean;
}

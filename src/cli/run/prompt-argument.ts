import { statSync } from 'node:fs';
import path from 'node:path';
import { isListName } from '../../core/list/list-names.ts';
import { ifPossible } from '../../effects/files/if-possible.ts';
import { commandHere, ralphCommand, shellQuote } from '../../printed-command.ts';

/** Returns why a single word is probably no prompt, and the command that was probably meant; null if it may be one. */
export function whyNoPrompt(
  word: string | null,
  { startDir, name, isOpenTask }: PromptPlace,
): string | null {
  if (word === null || word === '' || /\s/.test(word)) return null;
  if (isOpenTask(word)) {
    return `'${word}' is an open task, and the prompt would be that one word.\nto continue it: ${commandHere('resume', word)}`;
  }
  const isFile = `'${word}' is a file, and the prompt would be that one word.`;
  const asPrompt = ralphCommand(name, '--prompt-file', shellQuote(word));
  const stats = ifPossible(() => statSync(path.resolve(startDir, word)));
  if (stats?.isDirectory()) return `'${word}' is a folder, and the prompt would be that one word.`;
  const isThere = stats !== null;
  if (isThere && name === 'run' && isListName(word)) {
    return `${isFile}\nto work through it as a list: ${ralphCommand('work', shellQuote(word))}\nto take it as a prompt: ${asPrompt}`;
  }
  return isThere ? `${isFile}\nto take it as a prompt: ${asPrompt}` : null;
}

interface PromptPlace {
  readonly startDir: string;
  readonly name: 'run' | 'submit';
  readonly isOpenTask: (id: string) => boolean;
}

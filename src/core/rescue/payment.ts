import { isPayment } from '../settings/task-type.ts';
import type { VaultFile } from './vault-files.ts';

/**
 * Whether a file is about a payment, judging by its name, its type, or a line of its text that states a type. Matches
 * broadly, since a false alarm only leaves the file to a person.
 */
export function isPaymentFile({
  name,
  frontMatter,
  text,
}: Pick<VaultFile, 'name' | 'frontMatter' | 'text'>): boolean {
  const words = name.replace(/\.[^.]*$/, '').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  return [words, frontMatter.type ?? '', ...typeLines(text ?? '')].some((each) =>
    isPayment(each.replace(/[^\p{L}\p{N}]+/gu, ' ')),
  );
}

/** Returns what the lines of a text state as its type, such as `payment` in `- category: payment`. */
function typeLines(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /^[\s>*_#-]{0,20}(?:task[ _-]?)?(?:type|category|action|kind)["'*_ \t]{0,8}[:=](.{0,200})$/gim,
    ),
  ].map(([, value = '']) => value);
}

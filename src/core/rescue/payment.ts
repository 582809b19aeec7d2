import { isPayment } from '../settings/task-type.ts';
import type { VaultFile } from './vault-files.ts';

/**
 * Whether the name, the type, or a line of the text that states a type says that a file is a payment.
 * A false alarm only leaves the file to a human, so this is broad.
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

/** `type: payment`, `**Task type:** payment`, `- category: payments`. */
function typeLines(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /^[\s>*_#-]{0,20}(?:task[ _-]?)?(?:type|category|action|kind)["'*_ \t]{0,8}[:=](.{0,200})$/gim,
    ),
  ].map(([, value = '']) => value);
}

import { oneLine, withoutControls } from './material.ts';
import { maskSecrets } from './secrets.ts';

/** Far more than a preview shows, so that a credential is not cut before it is known for one. */
const LOOKED_AT = 8_000;

/**
 * The beginning of a text in one line, at most `length` code units, credentials masked: also one that
 * is coloured in the middle.
 */
export function preview(text: string, length: number): string {
  return oneLine(maskSecrets(withoutControls(text.slice(0, LOOKED_AT))), length);
}

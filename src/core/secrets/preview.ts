import { oneLine, withoutControls } from '../text/untrusted-text.ts';
import { maskSecrets } from './secrets.ts';

/** Far more than a preview shows, so that no credential is cut before it is recognised. */
const LOOKED_AT = 8_000;

/**
 * Returns the beginning of a text on one line, at most `length` code units, with credentials
 * masked, even if colour codes split them.
 */
export function preview(text: string, length: number): string {
  return oneLine(maskSecrets(withoutControls(text.slice(0, LOOKED_AT))), length);
}

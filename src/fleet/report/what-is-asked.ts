import { oneLine } from '../../core/text/untrusted-text.ts';

/**
 * Returns the action from the front matter of an approval request, as `renderRequest` writes it; if there is none, the
 * beginning of the text.
 */
export function whatIsAsked(text: string): string {
  const [, action = ''] = /^---\n(?:.*\n)*?action: (".*")\n/.exec(text) ?? [];
  try {
    return oneLine(String(JSON.parse(action)), 200);
  } catch {
    return oneLine(text, 200);
  }
}

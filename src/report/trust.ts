import type { Power } from '../core/power.ts';

/** Every sentence about the trust that a found configuration needs. */

/** Said at every start: `…/ralph.config.yaml sets verify, after.` */
export function setsLine(file: string, powers: readonly Power[]): string {
  return `${visible(file)} sets ${keysOf(powers)}.`;
}

/** What is the matter. `unsafe` says why what was noted is not believed; null where it is. */
export function untrustedWords(
  file: string,
  powers: readonly Power[],
  unsafe: string | null,
): string {
  const why = unsafe === null ? '' : ` (what was noted is not believed: ${visible(unsafe)})`;
  return `${visible(file)} sets ${keysOf(powers)}, and nobody has trusted what is in it now${why}`;
}

/** Why nothing was started, and the ways on. */
export function untrustedRefusal(words: string): string {
  return `${words}. Run ralph trust once, which shows it and lets it be used; in cron and CI name it: --config FILE or RALPH_CONFIG.`;
}

/** For a plan, which is shown all the same. */
export function untrustedNotice(words: string): string {
  return `A run would be refused until ralph trust: ${words}.`;
}

/** What a file sets that needs trust, one line each. */
export function powerLines(file: string, powers: readonly Power[]): string {
  const lines = powers.map(({ key, value }) => `  ${key}: ${valueText(value)}\n`);
  return `${visible(file)} sets:\n${lines.join('')}`;
}

export const TRUSTED = 'It may be used from now on, for as long as its content stays as it is.\n';

export function noTrustNeeded(file: string): string {
  return `${visible(file)} sets nothing that needs trust.\n`;
}

export function revoked(file: string, wasTrusted: boolean): string {
  return wasTrusted
    ? `${visible(file)} is trusted no more.\n`
    : `${visible(file)} was not trusted.\n`;
}

/** The question to a person at the terminal. */
export function trustQuestion(file: string, powers: readonly Power[]): string {
  return `ralph: nobody has trusted this configuration as it is now: ${powerLines(file, powers)}Use it from now on? [y/N] `;
}

function keysOf(powers: readonly Power[]): string {
  return powers.map(({ key }) => key).join(', ');
}

function valueText(value: unknown): string {
  return Array.isArray(value) ? value.map(valueText).join(', ') : visible(String(value));
}

/**
 * A text on one line with nothing of it hidden: what a terminal would act on, or not show, is written as
 * `\u{1b}`. To leave it out would leave out commands that stand inside of it.
 */
function visible(text: string): string {
  return text
    .replace(/\n/g, '\\n')
    .replace(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
      (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
    )
    .replace(/ +/g, ' ');
}

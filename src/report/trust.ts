import type { Power } from '../core/power.ts';

/** Every sentence about the trust that a found configuration needs. */

/** Said at every start: `…/ralph.config.yaml sets verify, after.` */
export function setsLine(file: string, powers: readonly Power[]): string {
  return `${visible(file)} sets ${keysOf(powers)}.`;
}

/** A configuration that no run uses before a person has said so. */
export interface UntrustedConfig {
  readonly file: string;
  readonly powers: readonly Power[];
  /** Why what was noted of trust is not believed; null where it is. */
  readonly unsafe: string | null;
  /** The place of one that was trusted, with other content or in place of this one; null where none was. */
  readonly trusted: string | null;
  /** False where it is gone, or cannot be used. */
  readonly isUsable: boolean;
}

/** What is the matter. */
export function untrustedWords(config: UntrustedConfig): string {
  const { file, powers, unsafe, trusted, isUsable } = config;
  if (!isUsable) return `${visible(file)}, which was trusted, is gone or cannot be used`;
  if (powers.length > 0) {
    const why = unsafe === null ? '' : ` (what was noted is not believed: ${visible(unsafe)})`;
    return `${visible(file)} sets ${keysOf(powers)}, and nobody has trusted what is in it now${why}`;
  }
  return trusted === null || trusted === file
    ? `${visible(file)} is no longer what was trusted`
    : `${visible(file)} would be used in place of ${visible(trusted)}, which was trusted`;
}

/** Why nothing was started, and the ways on. */
export function untrustedRefusal(config: UntrustedConfig): string {
  const remedy = config.isUsable
    ? 'Run ralph trust once, which shows it and lets it be used, in cron too; in CI name it: --config FILE or RALPH_CONFIG.'
    : `Put it back, or do without it: ralph trust --revoke ${visible(config.file)}.`;
  return `${untrustedWords(config)}. ${remedy}`;
}

/** For a plan, which is shown all the same. */
export function untrustedNotice(config: UntrustedConfig): string {
  const until = config.isUsable ? 'ralph trust' : 'ralph trust --revoke';
  return `A run would be refused until ${until}: ${untrustedWords(config)}.`;
}

/** What to do about it, for a table of findings. */
export function untrustedRemedy({ file, isUsable }: UntrustedConfig): string {
  return isUsable
    ? `ralph trust shows it and lets it be used; or name it: --config ${file}`
    : `put it back, or do without it: ralph trust --revoke ${file}`;
}

/** What a file sets that needs trust, one line each. */
export function powerLines(file: string, powers: readonly Power[]): string {
  if (powers.length === 0) return noTrustNeeded(file);
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
export function trustQuestion({ file, powers }: UntrustedConfig): string {
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

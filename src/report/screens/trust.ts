import type { SettingNeedingTrust } from '../../core/settings/needs-trust.ts';
import { ralphCommand, shellQuote } from '../../printed-command.ts';

// The messages about trust in a configuration file that ralph found by itself.

/** Returns the notice that is printed at every start: `…/ralph.config.yaml sets verify, after.` */
export function setsLine(file: string, powers: readonly SettingNeedingTrust[]): string {
  return `${visible(file)} sets ${keysOf(powers)}.`;
}

/** A configuration that no run uses until a person trusts it. */
export interface UntrustedConfig {
  readonly file: string;
  readonly powers: readonly SettingNeedingTrust[];
  /** Why the record of trust is unsafe to use; null if it is safe. */
  readonly unsafe: string | null;
  /** A path that is trusted: this file with other content, or the file that this one would replace; null if none. */
  readonly trusted: string | null;
  /** False if the file is missing or invalid. */
  readonly isUsable: boolean;
}

/** Says why the configuration is not trusted. */
export function untrustedWords(config: UntrustedConfig): string {
  const { file, powers, unsafe, trusted, isUsable } = config;
  if (!isUsable) return `${visible(file)}, which was trusted, is missing or invalid`;
  if (powers.length > 0) {
    const why = unsafe === null ? '' : ` (the record of trust is ignored: ${visible(unsafe)})`;
    return `${visible(file)} sets ${keysOf(powers)}, and it is new, or has changed since you trusted it${why}`;
  }
  return trusted === null || trusted === file
    ? `${visible(file)} has changed since it was trusted`
    : `${visible(file)} would be used instead of ${visible(trusted)}, which was trusted`;
}

/** Says why nothing was started, and what to do. */
export function untrustedRefusal(config: UntrustedConfig): string {
  const remedy = config.isUsable
    ? 'Run ralph trust once: it shows the file and allows its use, in cron too. In CI, name the file: --config FILE or RALPH_CONFIG.'
    : `Restore the file, or stop using it: ${revokeCommand(config.file)}`;
  return `${untrustedWords(config)}. ${remedy}`;
}

function revokeCommand(file: string): string {
  return ralphCommand('trust', '--revoke', shellQuote(visible(file)));
}

/** Says what to do about an untrusted configuration, for `ralph doctor`. */
export function untrustedRemedy({ file, isUsable }: UntrustedConfig): string {
  return isUsable
    ? `${ralphCommand('trust')} shows the file and allows its use; or name it: --config ${file}`
    : `restore the file, or stop using it: ${revokeCommand(file)}`;
}

/** Lists the settings of a file that need trust, one on each line. */
export function powerLines(file: string, powers: readonly SettingNeedingTrust[]): string {
  if (powers.length === 0) return noTrustNeeded(file);
  const lines = powers.map(({ key, value }) => `  ${key}: ${valueText(value)}\n`);
  return `${visible(file)} sets:\n${lines.join('')}`;
}

export const TRUSTED = 'ralph uses this file from now on, until its content changes.\n';

export function noTrustNeeded(file: string): string {
  return `${visible(file)} sets nothing that needs trust.\n`;
}

export function revoked(file: string, wasTrusted: boolean): string {
  return wasTrusted
    ? `${visible(file)} is no longer trusted.\n`
    : `${visible(file)} was not trusted.\n`;
}

/** Returns the question to a person at the terminal. */
export function trustQuestion({ file, powers }: UntrustedConfig): string {
  return `ralph: nobody has trusted the current content of this configuration: ${powerLines(file, powers)}Use it from now on? [y/N] `;
}

function keysOf(powers: readonly SettingNeedingTrust[]): string {
  return powers.map(({ key }) => key).join(', ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value !== 'object' || value === null) return visible(String(value));
  return Object.entries(value)
    .map(([name, each]) => `${visible(name)}: ${valueText(each)}`)
    .join(', ');
}

/** Shows invisible characters as codes such as `\u{1b}`: dropping them would hide commands between them. */
function visible(text: string): string {
  return text
    .replace(/\n/g, '\\n')
    .replace(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
      (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
    )
    .replace(/ +/g, ' ');
}

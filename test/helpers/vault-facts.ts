import type { FileFacts, FileTask, VaultFile } from '../../src/core/rescue/vault-files.ts';

/** When the tests' passes look. */
export const NOW = '2026-01-05T12:00:00.000Z';

/** The instant so many minutes before. */
export function minutesAgo(minutes: number): string {
  return new Date(Date.parse(NOW) - minutes * 60_000).toISOString();
}

/** A stuck file, but for what is said. */
function vaultFile(said: Partial<VaultFile> = {}): VaultFile {
  return {
    name: 'letter.md',
    folder: 'In_Progress',
    kind: 'regular',
    touchedAt: minutesAgo(25),
    changedAt: minutesAgo(25),
    sizeBytes: 20,
    text: 'Answer the letter.',
    frontMatter: { type: null, problem: null },
    hasNamesake: false,
    ...said,
  };
}

/** A task that stands so, but for what is said. */
export function fileTask(standing: FileTask['standing'], said: Partial<FileTask> = {}): FileTask {
  return {
    standing,
    isOwn: true,
    exitReason: null,
    startedAt: minutesAgo(60),
    finishedAt: null,
    isKeptByProgram: false,
    isRejected: false,
    approval: null,
    ...said,
  };
}

type Said = Partial<Omit<FileFacts, 'file'>> & { readonly file?: Partial<VaultFile> };

/** A stuck file without any task, but for what is said. */
export function fileFacts({ file, ...said }: Said = {}): FileFacts {
  const whole = vaultFile(file);
  const stem = whole.name.replace(/\.[^.]*$/, '');
  return {
    ownId: stem,
    own: null,
    rescueId: `stuck_${stem}`,
    rescue: null,
    isOurs: false,
    failedRescues: 0,
    ownNote: null,
    ...said,
    file: whole,
  };
}

import { lstatSync, type Stats, statfsSync } from 'node:fs';

/**
 * Why a file or folder must not be trusted; null where only this user or root can have written it.
 * Half a sentence, such as `it belongs to another user (1001)`.
 */
export function distrust(stats: Stats): string | null {
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    return `it belongs to another user (${stats.uid})`;
  }
  if ((stats.mode & 0o002) !== 0) return 'everybody can write it; chmod o-w mends that';
  // Many systems give each user a group of their own, and write files for it by default.
  const isOwnGroup = stats.gid === process.getgid?.() && stats.gid === stats.uid;
  if ((stats.mode & 0o020) !== 0 && !isOwnGroup) {
    return 'its group can write it; chmod g-w mends that';
  }
  return null;
}

/**
 * The same for what stands at a path now; null also where nothing does, or nothing that can be looked
 * at. Links are not followed.
 */
export function distrustPath(place: string): string | null {
  try {
    const stats = lstatSync(place);
    // The mode of a link says nothing; where it leads is for whoever follows it to judge.
    if (stats.isSymbolicLink()) return null;
    const why = distrust(stats);
    return why !== null && isWithoutModes(place) ? null : why;
  } catch {
    return null;
  }
}

/**
 * File systems on which every file shows the owner and the mode that they were mounted with, by the
 * numbers that Linux gives them in `magic.h`: there neither says who can write, and chmod mends nothing.
 */
const WITHOUT_MODES: ReadonlyMap<number, string> = new Map([
  [0x4d44, 'vfat'],
  [0x2011bab0, 'exfat'],
  [0x5346544e, 'ntfs'],
  [0x7366746e, 'ntfs3'],
  [0x65735546, 'fuse'],
  [0xfe534d42, 'smb2'],
  [0xff534d42, 'cifs'],
  [0x01021997, '9p'],
]);

function isWithoutModes(place: string): boolean {
  return process.platform === 'linux' && WITHOUT_MODES.has(statfsSync(place).type);
}

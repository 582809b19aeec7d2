import { lstatSync, type Stats, statfsSync } from 'node:fs';

/** Returns why a file must not be trusted, as half a sentence; null if only this user or root can have written it. */
export function distrust(stats: Stats): string | null {
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    return `it belongs to another user (${stats.uid})`;
  }
  if ((stats.mode & 0o002) !== 0) return 'everyone can write to it; fix that with chmod o-w';
  // Many systems give each user a group of their own, and let this group write to new files by default.
  const isOwnGroup = stats.gid === process.getgid?.() && stats.gid === stats.uid;
  if ((stats.mode & 0o020) !== 0 && !isOwnGroup) {
    return 'its group can write to it; fix that with chmod g-w';
  }
  return null;
}

/** As `distrust`, for a path. Also null for a symbolic link, which is not followed, and for what cannot be read. */
export function distrustPath(place: string): string | null {
  try {
    const stats = lstatSync(place);
    // A link's own mode means nothing; code that follows the link checks its target.
    if (stats.isSymbolicLink()) return null;
    const why = distrust(stats);
    return why !== null && isWithoutModes(place) ? null : why;
  } catch {
    return null;
  }
}

/**
 * File systems where every file shows the owner and mode of the mount, by their numbers in Linux's
 * `magic.h`: there, neither says who can write, and chmod has no effect.
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

import type { DoctorFinding } from '../../core/agent/finding.ts';
import type { LeakyRemote } from '../../core/snapshots/shared-refs.ts';
import { type FolderFacts, ok, warning } from './doctor.ts';

/** The facts that decide whether snapshots of a work tree can be made and stay private. */
export interface SnapshotFacts {
  /** Git's version; null if git does not report one. */
  readonly version: string | null;
  /** The folder of the repository's objects. */
  readonly objects: string;
  readonly probe: FolderFacts;
  /** The remotes to which a push would also send snapshots. */
  readonly leaks: readonly LeakyRemote[];
}

/** The first version of git with the settings to flush objects and refs to the disk. */
const FLUSHING = [2, 36] as const;

/** Returns findings about snapshots; `facts` is null if there is no repository to keep them in. */
export function snapshotFindings(facts: SnapshotFacts | null): readonly DoctorFinding[] {
  if (facts === null) return [];
  const { version, objects, probe, leaks } = facts;
  const found = leaks.map(({ says, remedy }) => warning(`snapshots: ${says}`, remedy));
  if (probe.kind === 'not-writable') {
    found.push(
      warning(
        `snapshots: cannot write to ${objects}: ${probe.why}; nothing is kept, so nothing can be taken back`,
        'correct its owner or mode, or say --no-snapshots',
      ),
    );
  }
  if (version !== null && isBefore(version, FLUSHING)) {
    found.push(
      warning(
        `snapshots: git ${version} does not flush what it writes, so a power cut may damage the newest ones`,
        `install git ${FLUSHING.join('.')} or newer`,
      ),
    );
  }
  return found.length > 0 ? found : [ok(`snapshots: git ${version ?? ''} can keep the work tree`)];
}

function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

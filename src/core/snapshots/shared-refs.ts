/** What the configuration of a remote says about the refs that a push takes along. */
export interface RemoteFacts {
  readonly name: string;
  readonly mirror: boolean;
  /** The refspecs of `remote.<name>.push`. */
  readonly push: readonly string[];
}

/** A remote to which a push would take snapshots. */
export interface LeakyRemote {
  readonly says: string;
  readonly remedy: string;
}

/** Returns the remotes to which `git push` would take snapshots, each with what helps. */
export function leakyRemotes(remotes: readonly RemoteFacts[]): readonly LeakyRemote[] {
  return remotes.flatMap(({ name, mirror, push }) => {
    if (mirror) {
      return [
        {
          says: `git push ${name} takes all snapshots along, and what they hold: remote.${name}.mirror is set`,
          remedy: `git config --unset remote.${name}.mirror, or run ralph with --no-snapshots`,
        },
      ];
    }
    const broad = push.find(takesSnapshots);
    if (broad === undefined || push.some(leavesThemOut)) return [];
    return [
      {
        says: `git push ${name} takes all snapshots along, and what they hold: remote.${name}.push is ${broad}`,
        remedy: `git config --add remote.${name}.push '^refs/ralph/*'`,
      },
    ];
  });
}

function takesSnapshots(refspec: string): boolean {
  const [source = ''] = refspec.replace(/^\+/, '').split(':');
  return /^refs\/(?:\*|ralph\/)/.test(source);
}

function leavesThemOut(refspec: string): boolean {
  return /^\^refs\/(?:ralph\/)?\*$/.test(refspec);
}
